"""Keys of payment services, shops, banks and exchanges."""

from forge.audits.secrets.rules.token_rule import token

RULES = (
    token("stripe-live-key", "Stripe live key", "<sk|rk>_<live|prod>_<a10-247>"),
    token("stripe-test-key", "Stripe test key", "<sk|rk>_test_<a16-247>", floor=3.0),
    token("stripe-webhook-secret", "Stripe webhook secret", "whsec_<b32-60>", "whsec_<a32-64>", floor=3.5),
    token("square-token", "Square token", "sq0<atp|csp|idb>-<w22-60>", "EAAA<w58-64>", floor=3.5),
    token("paypal-token", "PayPal or Braintree token", "access_token$<production|sandbox>$<l16>$<h32>"),
    token("shopify-token", "Shopify token", "shp<at|ca|pa|ss|ua|rt>_<x32>"),
    token("plaid-token", "Plaid access token", "access-<sandbox|development|production>-<uuid>"),
    token("razorpay-key", "Razorpay key", "rzp_<live|test>_<a14>"),
    token(
        "flutterwave-key",
        "Flutterwave key",
        "FLW<SEC|PUB>K_TEST-<x32>-X",
        "FLW<SEC|PUB>K_TEST-<x12>",
        "FLWSECK-<x32>-X",
        "FLWSECK_TEST<x12>",
    ),
    token("gocardless-token", "GoCardless token", "<live|sandbox>_<w40>", floor=3.8),
    token("mollie-key", "Mollie key", "<live|test>_<a30>", floor=3.8),
    token("lob-key", "Lob key", "<live|test>_<h35>", "<live|test>_pub_<h31>"),
    token("easypost-key", "EasyPost key", "EZ<AK|TK><a54>", "EZ<AK|TK><w54>"),
    token("shippo-token", "Shippo token", "shippo_<live|test>_<x40>"),
    token("duffel-token", "Duffel token", "duffel_<live|test>_<w43>"),
    token("adyen-key", "Adyen key", "AQE<a1-3>hmf<b60-300>"),
    token("checkout-key", "Checkout.com key", "sk_sbox_<l26-30>", "sk_<uuid>"),
    token("xendit-key", "Xendit key", "xnd_<production|development>_<w40-80>"),
    token("midtrans-key", "Midtrans key", "Mid-server-<w20-40>"),
    token("freemius-key", "Freemius secret key", "sk_<w29>", floor=4.2),
    token("coinbase-key", "Coinbase key name", "organizations/<uuid>/apiKeys/<uuid>"),
    token("paddle-key", "Paddle key", "pdl_<live|sdbx>_apikey_<l26>_<a22>_<a3>"),
    token("polar-token", "Polar token", "polar_<pat|oat|at|rt|whs>_<w32-60>"),
    token("alchemy-key", "Alchemy key", "alcht_<a30>"),
)

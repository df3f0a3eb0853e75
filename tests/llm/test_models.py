from forge.llm.models import dollars


def test_amounts_have_significant_digits():
    amounts = (0, 20, 4_200, 20_000, 420_000, 12_500_000, 1_204_000_000)
    written = ["$0", "< $0.0001", "$0.0042", "$0.02", "$0.42", "$12.50", "$1,204"]
    assert [dollars(amount) for amount in amounts] == written

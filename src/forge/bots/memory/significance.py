"""Which words of a question are worth looking for, where memories are found by words."""

from forge.store.fulltext import words_of

_COMMON = frozenset(
    """a about after again all also am an and any anything are as at be because been before being both but by can cannot
    could did do does doing don done down each else even ever every few for from get give go got had has have having he
    hello her here hers hey hi him his how i if in into is it its just know let like ll look make many may maybe me might
    mine more most much must my need no nor not now of off ok okay on once one only or other our ours out over own please
    put re really s same say see shall she should so some something still such suggest sure t take tell than thank thanks
    that the their theirs them then there these they thing things this those though through to too until up us use ve very
    want was way we well were what when where which while who whom whose why will with without would yes yet you your yours
    aber als am an auch auf aus bei bin bist da dann das dass dein den der des dich die dir doch du ein eine einen einer er
    es für hat hast ich ihr im in ist ja kann kein man mein mich mir mit nach nicht noch nur oder sein sich sie sind so und
    uns vom von vor war was wenn wer wie wir wird wo zu zum zur au aux avec ce ces cette dans de des du elle en est et eux
    il je la le les leur lui ma mais me mes moi mon ne nos notre nous on ou par pas pour qu que qui sa se ses son sur ta te
    tes toi ton tu un une vos votre vous al como con cual de del donde el ella en es ese eso esta este la las lo los mas me
    mi muy no nos o para pero por que quien se si sin son su sus te tu un una uno y yo""".split()  # noqa: SIM905
)


def beginnings(text: str) -> list[str]:
    """Of the words that say something, without the ends that differ from form to form: `allerg` for allergic."""
    return [_stem(word) for word in dict.fromkeys(words_of(text)) if word not in _COMMON]


def _stem(word: str) -> str:
    """Cut by length alone, since nobody says which language it is."""
    if len(word) < 5:
        return word
    return word[:-1] if len(word) < 7 else word[:-2]

"""Turns phrases with words between their parts into the phrases of the vocabulary."""

import re
from typing import Final

_FEW: Final = r"(?:[^\s;:]*[^\s,;:] ){0,4}"
_RULES: Final = tuple(
    (re.compile(pattern), wanted)
    for pattern, wanted in (
        (
            rf"\b(?:cuts?|lowers?|slashes|slashed|trims?|reduces|downgrades) {_FEW}(?:target|forecast|outlook|estimate|rating)s?\b",
            "cuts target",
        ),
        (
            rf"\b(?:raises?|lifts?|hikes?|boosts?|ups|upgrades) {_FEW}(?:target|forecast|outlook|estimate|rating)s?\b",
            "raises target",
        ),
        (rf"\b(?:makes?|made) {_FEW}whole\b", "made whole"),
        (
            rf"\b(?:reveals?|discloses?|takes?|builds?|buys?|acquires?|doubles|triples) {_FEW}(?:stake|position|exposure) in (?=bitcoin|btc)",
            "discloses stake ",
        ),
        (
            r"\b(?:reveals?|discloses?|takes?|builds?) (?=(?:[^\s,;:]+ ){0,4}(?:bitcoin|btc) (?:etf |fund )?(?:stake|position|exposure|holdings?)\b)",
            "discloses stake ",
        ),
        (
            r"\b(?:no|without|zero) (?:evidence|proof|trace|hint|finding)s? of (?:wrongdoing|fraud|foul play|misconduct|a hack|theft|manipulation)\b",
            "found no wrongdoing",
        ),
        (
            rf"\b(?:lets?|allows?|permits?) (?:class action |class-action )?(?:lawsuit|suit|case|claims?|charges) {_FEW}(?:proceed|go ahead|continue|go forward|advance)\b",
            "faces lawsuit",
        ),
        (
            rf"\b(?:moves?|moved|sends?|sent|transfers?|transferred|deposits?) {_FEW}(?:btc|bitcoins?|coins) (?:worth \S+ (?:million |billion )?)?(?:in|on)?to (?:an? |the )?(?:exchanges?|coinbase|binance|kraken|okx|bybit|bitfinex)\b",
            "moves to sell",
        ),
        (
            rf"\b(?:moves?|moved|pulls?|withdraws?|withdrew) {_FEW}(?:btc|bitcoins?|coins) (?:off|from|out of) (?:exchanges?|coinbase|binance|kraken)\b",
            "cold storage",
        ),
        (
            r"\b(?:fails? to|failed to|can't|cannot|unable to) (?:hold|keep|sustain|extend)(?: on ?to)? (?:its |early )?gains\b",
            "gives up gains",
        ),
        (
            (
                rf"\b(?:returns?|repays?|recovers?|hands? back|gives? back) {_FEW}(?:frozen|stolen|lost|seized|missing) "
                r"(?:coins|funds|bitcoins?|btc|crypto|money|assets)\b"
            ),
            "reimburses",
        ),
        (
            (
                rf"\b(?:recovers?|recovered|returns?|returned|retrieves?|retrieved|claws? back) {_FEW}"
                rf"(?:coins|funds|bitcoins?|btc|crypto|million|billion) {_FEW}(?:stolen|taken|lost|looted|drained|hacked)\b[^,;:]*"
            ),
            "reimburses",
        ),
        (
            (
                rf"\b(?:raises?|raised|increases?|increased|boosts?|boosted|ups|expands?|doubles?|doubled|triples?|tripled|quadruples?) "
                rf"{_FEW}(?:bitcoin|btc|crypto) (?:etf |fund )?(?:exposure|holdings?|stake|position|allocation|stash|treasury)\b"
            ),
            "raises stake",
        ),
        # "Not even a war could stop Bitcoin", "nothing can save the rally".
        (
            rf"\b(?:not even|nothing|no) {_FEW}(?:could|can|will|would) (?:stop|halt|derail|slow|dent|sink|shake|hurt) {_FEW}(?=bitcoin|btc|the|its|this)",
            "unstoppable ",
        ),
        (
            rf"\b(?:not even|nothing|no) {_FEW}(?:could|can|will|would) (?:save|rescue|help|lift|revive|support|cheer) {_FEW}(?=bitcoin|btc|the|its|this)",
            "no end in sight ",
        ),
        (
            rf"\b(?:keeps?|kept|bars?|shuts?) {_FEW}(?:out of|away from) (?:bitcoin|crypto)\b",
            "shut out",
        ),
        (
            r"\b(?:leaves?|left|leaving|dumps?|sells?|swaps?|ditch(?:es)?|trades?|abandons?|quits?) (?:(?!bitcoin|btc)\S+ ){1,3}for (?:bitcoin|btc)\b",
            "switches to bitcoin",
        ),
        (r"\b(?:knock|wipe|shave|slice|chop)(?:s|d|ed)? \S+ (?:\S+ )?off (?:bitcoin|btc)\b", "sinks bitcoin"),
        (
            r"\b(?:hold|put|allocate|invest|keep|park|place)(?:s|d|ed)? (?:\S+ ){1,4}(?:in|into|to) (?:bitcoin|btc)\b(?! (?:mining|bets|shorts))",
            "buys bitcoin",
        ),
        (
            rf"\b(?:throw|kick|drop|remove|expel|exclude)(?:s|ed)? {_FEW}(?:out of|from) (?:its |the )?(?:\S+ )?(?:index|indices|indexes|benchmark)\b",
            "kicked out",
        ),
        (rf"\bclos(?:es?|ed|ing) {_FEW}accounts\b", "closes accounts"),
        (
            r"\b(?:supply|stock|amount|number|balances?|reserves?) of (?:bitcoins?|btc|coins) (?:held |kept |left )?(?:on|at) (?:crypto )?exchanges\b",
            "exchange reserves",
        ),
        (
            r"\b(?:gets?|got|getting) back \S+ (?:million |billion )?(?:\S+ ){0,3}from (?:hackers?|thie(?:f|ves)|attackers?)\b",
            "reimburses",
        ),
        (r"\bsees? (?:bitcoin|btc) (?:at|going to|falling to) (?:zero|\$0)\b", "sees worthless bitcoin"),
        (
            r"\b(?:breaks?|broke|broken|snaps?|snapped|ends?|ended) (?:\S+ ){0,3}(losing|winning) (?:streak|run)\b",
            r"ends \1 streak",
        ),
        (
            rf"\b(?:suspend|halt|freeze|pause|stop|block)(?:s|d|ed|ped)? {_FEW}(?:deposits|withdrawals|redemptions|payouts)\b",
            "halts withdrawals",
        ),
        (
            (
                r"\b(?:police|interpol|europol|fbi|authorities|officers|agents)\b[^,;:]* (?:arrests?|busts?|detains?|nabs?|charges?)\b"
                r"(?=.*\b(?:scams?|thefts?|heist|ransomware|robber(?:y|ies)|kidnapping)\b)"
            ),
            "police arrest gang",
        ),
        (r"\b(probe|investigation|inquiry|look|dive|insight|research)s? into\b", r"\1 of"),
        (r"\bturn(?:s|ed|ing)? (?:its|their|his|her) backs? on\b", "turns its back on"),
        (
            r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december|fed|powell) (?:rate )?cuts?\b(?! (?:to|in|by|its|the))",
            "rate cut",
        ),
        (r"\b(?:pays?|paid|agrees to pay|to pay) \S+(?: million| billion)? to settle\b", "fined over"),
        (
            r"\b(?:tax|taxes|taxing) (?:on )?(?:unreali[sz]ed )?(?:bitcoin |crypto )?(?:capital )?gains\b",
            "tax on gains",
        ),
        (
            (
                rf"\b(?:lets?|allows?|permits?|enables?) (?=(?:[^\s,;:]+ ){{1,4}}(?:recommend|hold|offer|buy|own|trade|use|accept) "
                rf"{_FEW}(?:bitcoin|btc|crypto)\b)"
            ),
            "wins approval ",
        ),
        (r"\b(?:was|were|had been) (?:up|higher)\b[^,;]*[,;]? (?:then|until|before)\b", "gives it all back,"),
    )
)


def rewrite(text: str) -> str:
    """Return the text, which is in lower case, with the phrases that the vocabulary knows."""
    for pattern, wanted in _RULES:
        text = pattern.sub(wanted, text)
    return text

"""A hundred invented headlines, labelled by hand before the lexicon was tried on them."""

from typing import Final

POSITIVE: Final = """
Bitcoin surges past $120,000 to set new all-time high
Spot Bitcoin ETFs record $1.2 billion in inflows, biggest day this year
BlackRock says institutional demand for Bitcoin keeps growing
Bitcoin climbs 6% as inflation cools more than expected
El Salvador adds 500 BTC to its treasury as price rallies
Strategy buys another 10,000 bitcoin, shares jump
Court dismisses lawsuit against Bitcoin exchange in major win for industry
Bitcoin rebounds above $95,000 after weekend dip
Analysts turn bullish on bitcoin ahead of halving
Bitcoin miners post record profits as hash price recovers
Senate passes pro-crypto bill, boosting market sentiment
Lightning Network adoption soars among Latin American merchants
Bitcoin breaks above key resistance, eyes $130,000
Fed rate cut sends bitcoin and stocks higher
Bitcoin shrugs off regulatory fears and extends gains
Morgan Stanley approves bitcoin funds for wealthy clients
Long-term holders accumulate as bitcoin supply on exchanges falls to five-year low
Bitcoin outperforms gold and equities in best quarter since 2021
Texas pension fund invests $250 million in bitcoin
Bitcoin gains 4% as selling pressure eases
Golden cross forms on bitcoin chart, signalling more upside
Germany lifts ban on bitcoin savings plans
Hedge funds rush into bitcoin on optimism over new ETF
Bitcoin recovers all losses from last month's sell-off
PayPal expands bitcoin payments to 50 countries
Bitcoin rally continues for seventh straight day
Stablecoin law seen as huge boost for bitcoin liquidity
Bitcoin tops $2 trillion market value for first time
Brazil's largest bank launches bitcoin custody after strong demand
Bitcoin's Taproot upgrade improves privacy and lowers fees
Whale wallets add 40,000 BTC in sign of renewed confidence
Bitcoin ends year up 85%, its strongest performance since 2020
SEC approves options trading on spot bitcoin ETFs
Investors cheer as bitcoin survives stress test unscathed
"""

NEGATIVE: Final = """
Bitcoin plunges below $80,000 as liquidations top $1 billion
Hackers steal $230 million in bitcoin from Indian exchange
Bitcoin slides to three-month low on fears of rate hikes
Spot Bitcoin ETFs suffer record outflows for third week
SEC sues crypto exchange over unregistered bitcoin product
China reiterates ban on bitcoin mining, sending hash rate lower
Bitcoin miner files for bankruptcy amid falling margins
Bitcoin tumbles 9% in worst day since FTX collapse
Death cross looms for bitcoin as momentum fades
Exchange halts withdrawals after security breach
Bitcoin crash wipes out $400 billion in value
Founder of bitcoin Ponzi scheme sentenced to 20 years
Analysts warn bitcoin could fall to $60,000
IMF urges countries to drop bitcoin as legal tender, citing risks
Bitcoin fails to hold $100,000 as buyers retreat
Regulator fines bitcoin lender $50 million for misleading customers
Bitcoin drops after hot inflation report dashes rate cut hopes
Mt. Gox repayments spark selling pressure on bitcoin
Bitcoin fees spike to record, pricing out small users
Investors flee bitcoin funds as tariffs rattle markets
Bitcoin scam costs retirees their life savings
Major bank bans customers from buying bitcoin, citing fraud
Bitcoin sinks with tech stocks in global rout
Miner capitulation deepens as bitcoin price slumps
Critical bug in bitcoin wallet exposes private keys
Bitcoin erases gains after Fed chair's hawkish remarks
Police arrest trader over $90 million bitcoin fraud
Bitcoin ATM operator collapses, leaving users unpaid
Bear market fears grow as bitcoin loses key support
Lawmakers propose harsh tax on bitcoin profits
Crypto lender freezes accounts after heavy bitcoin losses
Bitcoin's energy use draws sharp criticism from climate groups
Long positions liquidated as bitcoin dives 12% in an hour
"""

NEUTRAL: Final = """
What is Bitcoin and how does it work? A beginner's guide
Bitcoin trades flat near $97,000 as investors await Fed decision
Bitcoin conference to be held in Las Vegas in May
Here is how bitcoin ETFs compare on fees
Five things to know in Bitcoin this week
Bitcoin developers discuss proposal to change block relay rules
Bitcoin holds steady ahead of jobs data
Senate committee schedules hearing on bitcoin reserve bill
Bitcoin price today: live updates
Who is Satoshi Nakamoto? A look at the main theories
Bitcoin Core releases version 29.0
How many bitcoins are left to mine?
Interview: an economist on bitcoin and monetary policy
Bitcoin mining difficulty adjusts by 0.4%
Company names new chief executive for its bitcoin unit
Bitcoin options worth $3 billion expire on Friday
Japan publishes draft rules for bitcoin accounting
Exchange moves headquarters to Dubai
Bitcoin network processes its one billionth transaction
The history of Bitcoin Pizza Day explained
Study examines energy mix of bitcoin miners
Bitcoin volatility at lowest level since 2023
Bitcoin vs. Ethereum: what are the differences?
Central bank publishes report on digital currencies
Bitcoin consolidates between $90,000 and $95,000
Museum opens exhibition on history of digital money
Tax authority updates guidance on reporting bitcoin transactions
Bitcoin wallet moves coins for first time since 2011
Podcast: where does bitcoin go from here?
Quiz: how well do you know bitcoin?
Bitcoin address linked to government transfers 1,000 BTC
University offers new course on bitcoin protocol
Survey: one in five adults has heard of the Lightning Network
"""


def labelled_headlines() -> list[tuple[str, str]]:
    groups = (("positive", POSITIVE), ("negative", NEGATIVE), ("neutral", NEUTRAL))
    return [(line, label) for label, lines in groups for line in lines.strip().splitlines()]

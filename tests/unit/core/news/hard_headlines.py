"""Invented headlines with negation, contrast, reversal and other languages, labelled before the rules were tried on them."""

from typing import Final

POSITIVE: Final = """
Bitcoin zips past $99K as shorts cover
Demand for Bitcoin ETFs outstrips new supply tenfold
Bitcoin stuns sceptics with fourth weekly advance
Appeals court rejects SEC bid to reopen Kraken case
Germany will not sell remaining seized bitcoin
Sanctions on Bitcoin mixer lifted
Despite Mt. Gox transfer, Bitcoin rises
Bitcoin hasn't been this cheap to send in years
Miners stop selling
Tariff scare passes; Bitcoin regains footing
Uruguay grants miners tax holiday
No more double taxation for Bitcoin holders in Portugal
Exchange outage over, trading back to normal
Kestrel beats fraud suit
Largest US bank starts Bitcoin custody
Bitcoin weathers storm as tech stocks crater
Odds of crypto winter fade, says Bernstein
Sweden drops Bitcoin mining ban plan
Bitcoin treasury companies doubled holdings this year
Bitcoin up, gold down as havens swap places
Bitcoin vaults to lifetime peak as funds pile in
BTC powers through $118,000, erasing a week of declines
Bitcoin closes the month 14% higher
Crypto majors in the green, Bitcoin adds 4.5%
Bitcoin bulls back in charge after weekend squeeze
Bitcoin is not going to zero, says former critic
Court declines to hear appeal against spot ETF approval
Prosecutors drop all counts against wallet maker
Regulators abandon plan to cap Bitcoin holdings at banks
Judge refuses to freeze exchange's assets
Sell-off in Bitcoin runs out of steam
Despite hack, users keep coins on Halden Exchange
Bitcoin pays no attention to rate fears, sets new peak
Miners' selling pressure eases to lowest since June
Outflows from Bitcoin funds slow to a trickle
Norway's wealth fund triples Bitcoin exposure
Walmart starts taking Bitcoin at checkout
Japan cuts crypto tax to flat 20%
House votes to repeal crypto broker rule
Thieves caught: police return stolen bitcoin to owners
Bitcoin stages comeback after morning rout
No ban on Bitcoin mining, minister confirms
Bears throw in the towel as Bitcoin nears $130K
Analyst doubles price target for Bitcoin to $250,000
Sovereign funds quietly buying Bitcoin, says BlackRock's Fink
Texas lawmakers approve $500 million Bitcoin purchase
Bitcoin network sees record number of active addresses
Stocks tumble, but Bitcoin stands firm
Argentina to let citizens pay taxes in Bitcoin
Kestrel repays customers in full after hack
Bitcoin hits fresh all-time peak of $142,300
Bitcoin edges up as traders shrug at CPI
BTC regains $108K after weekend wobble
Nearly $1 billion flows into spot Bitcoin products in one session
Court sides with miner in dispute over noise
Kazakhstan drops plan for Bitcoin mining tax
Bitcoin survives its biggest stress test yet
Ban on Bitcoin ads overturned in France
Bitcoin can no longer be ignored, says Norway's fund chief
Shorts burned as BTC squeezes past $121,000
Harvard endowment raises Bitcoin ETF stake by 250%
Ledger fixes flaw before any funds were lost
Despite outflows, Bitcoin holds above $100,000
Weak jobs data sends Bitcoin higher
The worst may be over for Bitcoin miners
Bitcoin finally breaks its September curse
Senate rejects ban on self-custody
Goldman clients pile into Bitcoin options as calls dominate
Bitcoin loses its risk label at Moody's
Charges dropped against Bitcoin developer
"""

NEGATIVE: Final = """
Bitcoin skids to $87,000, lowest since spring
Momentum is gone for Bitcoin, chart shows
Bitcoin ETFs see red for sixth day
Relief rally fizzles
Bitcoin unable to escape downtrend
Bitcoin's record run comes to an abrupt end
SEC puts Bitcoin basket fund on hold
Kestrel customers lose access to coins
Court reinstates charges against exchange boss
India not considering lower crypto tax
Bitcoin gives up $100K yet again
Miner bankruptcies mount as margins shrink
Fund giant walks away from Bitcoin ETF plans
Inflows? What inflows? Bitcoin funds keep bleeding
New York fines crypto lender $30 million
Scammers net $400 million in fake Bitcoin schemes
Bitcoin drops even though inflation cools
Bitcoin rallied to $120K only to crash to $104K
Bitcoin's hash rate suffers biggest fall since China ban
Investors lose patience with Bitcoin
Bitcoin dives 8% in an hour as longs get flushed
BTC loses grip on $95,000
Bitcoin wipes out November advance
Spot ETFs see money walk out for a ninth day
Bitcoin's rebound was short-lived
Bitcoin unable to build on ETF news
Bitcoin not safe from tariff shock, strategist says
Regulators show no mercy to Kestrel Exchange
Hopes of quick approval dashed as SEC asks for more time
Bitcoin peaks at $124K before sliding under $115K
Although miners expand, profits crumble
Record revenue cannot stop Coinbase warning of weak quarter
Exchange collapse leaves 80,000 users without their coins
Malware swaps Bitcoin addresses in clipboard, millions gone
Russia to jail unregistered Bitcoin miners
Turkey blocks access to crypto exchanges
EU parliament votes for transaction limits on Bitcoin
Founder of Bitcoin lender gets 12 years for fraud
MicroStrategy faces margin call risk as Bitcoin sags
Whales unload 60,000 BTC in two weeks
Bitcoin bulls wiped out as $1.4 billion in longs vanish
Hash rate tumbles after Xinjiang raids
JPMorgan cuts Bitcoin forecast, cites weak demand
Bitcoin is a bubble about to burst, Nobel laureate says
Bitcoin rally falters as dollar roars back
SEC appeals ruling that cleared Bitcoin ETF
Lawmakers shelve Bitcoin reserve plan
Bitcoin ETF approval pushed back to next year
Traders flee Bitcoin for gold
Bitcoin in freefall: where is the floor?
Bitcoin surrenders weekly gains
BTC buckles under heavy selling
Three exchanges fined for lax controls
Bitcoin shows no signs of recovery
Bitcoin fails to benefit from weaker dollar
ETF hype fades and so does Bitcoin
Bitcoin gains evaporate within minutes of Fed statement
Court keeps Bitcoin ban in place
Kuwait outlaws crypto mining
Miner shares sink on revenue miss
Hackers return to hit Kestrel a second time
Users locked out of Halden Exchange for third day
Bitcoin jumps, but analysts smell a bull trap
Promised rally never came for Bitcoin holders
Bitcoin treasury firm sells its entire stash
Inflation surprise knocks Bitcoin
Bank of England calls for tougher rules on Bitcoin
Bridge exploit costs users 1,900 BTC
Bitcoin heads for third weekly loss
Liquidity dries up on Bitcoin markets
"""

NEUTRAL: Final = """
Bitcoin holders in El Salvador: a portrait
ECB publishes digital euro timetable
Litecoin halving: what you need to know
Bitcoin unchanged as traders wait for Fed
Tesla rallies 9%
What analysts say about Bitcoin in 2027
Kraken hires former CFTC lawyer
Senate panel to question SEC chair
Should you hold Bitcoin in your pension?
Bitcoin moved in a $900 range on Sunday
Core developers fix typo in documentation
Solana fund sees biggest outflow this year
Bitcoin ETF options: how they work
Mining pool renames its payout scheme
BTC $98,340, ETH $3,400
Bitcoin moves sideways before payrolls
SEC to hold roundtable on custody in June
What Bitcoin's next difficulty adjustment could look like
Ether soars 12% on upgrade news
Nvidia slides after earnings
A beginner's guide to Bitcoin mining pools
Is now a good time to buy Bitcoin?
Bitcoin Core developers propose new relay policy
Coinbase names new chief legal officer
The story of the man who lost 8,000 bitcoin
Bitcoin neither up nor down after Fed minutes
Crypto calendar: CPI, Fed speakers and token unlocks
Cardano founder denies misuse of funds
Five questions about the Bitcoin halving
Kraken opens office in Dubai
Bitcoin at $101,340 in early trading
XRP crashes 20%
Polymarket traders put odds of Bitcoin record at 50%
Fidelity files form for Bitcoin fund custody change
Bitcoin wallet maker Trezor releases firmware 3.1
Court to rule on Mt. Gox claims next month
How Satoshi's first email changed finance
Gold hits record as central banks buy
Bitcoin flat; ether, solana mixed
Senate to debate stablecoin bill
Bitcoin treads water ahead of Powell speech
Everything you need to know about Bitcoin ordinals
Bitcoin developer conference opens in Prague
Ether ETF sees record outflows
Could Bitcoin replace gold?
Binance to delist three altcoins
Blockstream releases satellite receiver kit
Jury selection begins in Northbeam trial
Bitcoin mempool: what the numbers show
Apple shares hit record
SEC extends comment deadline on ETF rule
Crypto jobs report: who is hiring
Bitcoin price analysis for 12 November
Fed leaves rates unchanged as expected
Michael Saylor posts cryptic message
"""

UNKNOWN: Final = """
Bitcoin bricht nach Zinsentscheid ein
Bitcoin sube con fuerza tras la decisión de la Fed
Les mineurs de bitcoin vendent moins
Bitcoin em queda pelo terceiro dia
Биткоин упал ниже 90 тысяч
Bitcoin'de sert düşüş
Kryptomarkt im Minus: Bitcoin verliert fünf Prozent
Bitcoin cae por debajo de los 90.000 dólares
Il bitcoin tocca un nuovo massimo storico
Биткоин обновил исторический максимум
ビットコインが急落、投資家に動揺
Bitcoin yeni rekor kırdı
Harga Bitcoin naik tajam hari ini
Bitcoin daalt onder 90.000 dollar
O bitcoin fecha a semana em alta
Une plateforme de bitcoin piratée perd 40 millions
Bitcoin osiągnął nowy rekord
比特币ETF净流入创新高
Bitcoin erreicht neues Allzeithoch
El precio del bitcoin sube un 5 %
Le cours du bitcoin repart à la hausse
Bitcoin ultrapassa 700 mil reais
Криптобиржа взломана
비트코인 급락
"""


def labelled_headlines() -> list[tuple[str, str]]:
    groups = {"positive": POSITIVE, "negative": NEGATIVE, "neutral": NEUTRAL, "unknown": UNKNOWN}
    return [(title, label) for label, text in groups.items() for title in text.strip().splitlines()]

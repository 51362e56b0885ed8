"""Words of financial news and their value for Bitcoin, from -3 to 3. A stem ends in *. Phrases are matched before words."""

from typing import Final

# Matched first and as a whole: their single words would score differently.
PHRASES: Final = {
    3: "all-time high|record high|new high|bull run|golden cross|short squeeze|strategic reserve|record profit*",
    2: "rate cut*|record inflow*|net inflow*|inflow*|breaks above|break above|broke above|breaks through|legal tender status|"
    "best day|best week|best month|best quarter|best year|first time ever|risk on|safe haven|price target raised|"
    "buys the dip|buy the dip|adds to its treasury|to its treasury|bounces back|bounce back|strong demand|"
    "double down|doubles down|raises price target|growing demand|supply shock|lowers fees|lower fees|exchange reserves fall*|supply on exchanges fall*|exchange supply drop*",
    1: "market value for first time|for first time since launch|highest since|highest level|pro crypto|pro bitcoin|"
    "key resistance|ahead of halving|new etf",
    -1: "below support|key support|lower high*|hawkish*|risk off|small users|under pressure",
    -2: "rate hike*|outflow*|falls below|fall below|fell below|drops below|drop below|slips below|below $|sell off*|selloff*|"
    "worst day|worst week|worst month|worst quarter|worst year|lowest since|month low|year low|week low|"
    "cuts power|cuts price target|cuts bitcoin price target|price target cut|lowers price target|blow to|under fire|hot inflation|energy use|price* out|pricing out|margin call*|fails to hold|legal action|class action",
    -3: "record low|all-time low|death cross|bear market|rug pull|ponzi scheme|wiped out|wipes out|wipe out|wiping out|"
    "files for bankruptcy|file for bankruptcy|halts withdrawals|halt withdrawals|freezes accounts|freezes withdrawals|"
    "record outflow*|security breach|private keys exposed|exposes private keys|money laundering",
    # Phrases about calm markets and about calendars.
    0: "lowest volatility|volatility at lowest|lowest level since|mining difficulty|first time since|trades flat|holds steady|"
    "rate decision|gain* exposure|capital gains tax|all you need|need to know|things to know|price prediction|price today|"
    "live update*|compare on fees|tax authority|tax guidance|left to mine|hard fork|soft fork|no change",
}

WORDS: Final = {
    3: "soar* skyrocket* surg* smash* shatter* explod* rocket*",
    2: "rally rallies rallied rallying climb* jump* rebound* recover* bullish boom* breakout outperform* outpac* gain gains "
    "gained gaining approv* approval adopt* adoption accumulat* bull bulls optimis* cheer* win wins won victory "
    "boost* strongest unscathed upgrade upgraded upgrades milestone thriv* flourish* buoy* spik* reclaim* double doubles "
    "doubled triple triples tripled winning endors* greenlight* breakthrough upbeat robust undervalued frenzy tailwind* "
    "exonerat* snap snaps scoop* applaud* success*",
    1: "rise rises rising rose risen up upside higher advance* top tops topped high highs growth grow grows growing grew "
    "expand* expansion launch* invest invests invested buy buys bought buying add adds added embrac* support supports "
    "supportive improv* strong stronger confidence confident demand profit profits profitable partner* integrat* "
    "accept accepts accepted unlock* green positive hope hopes eyes extend* continues survive* resilien* record renewed "
    "lift* legaliz* legalis* welcome* favor* favour* benefit* ease eases dovish institutional backs backed backing praise* "
    "hail* clarity mainstream stabiliz* stabilis* secure* purchase* holder accelerat* momentum healthy solid settle cheaper "
    "faster safer relief reward* bargain* bid bids",
    -1: "fall falls falling fell fallen drop drops dropped dropping down lower low lows decline* declin* slip* dip dips dipped "
    "weak weaken* weaker retreat* concern* worr* fear* risk risks risky uncertain* warn* caution* doubt* critic* tax taxes "
    "tariff* struggl* delay* loss losses lose loses losing lost negative pressure stall* fade fades fading volatil* "
    "harsh* skeptic* sceptic* inflation dump dumps dumped dumping unpaid bug fee fees debt dash* misleading shed sheds "
    "shedding shrink* shrank lowest pain jitter* correction headwind* setback* stumbl* wobbl* drain* spook* scare* alarm* "
    "oppos* restrict* tighten* strict* shut shuts shutdown suspend* backlash threat* turmoil gloom* sour* dead outdated",
    -2: "slide* sliding slump* tumbl* sink sinks sank sinking bearish bear bears ban bans banned banning reject* sue sues "
    "sued suing lawsuit* charge charges charged fine fines fined crackdown* liquidat* flee flees fled rout rattl* halt* "
    "freez* frozen froze suffer* erase* plung* probe probes investigat* arrest* scam* sentenc* guilty convict* seiz* "
    "vulnerab* exploit* breach* penalt* violat* illegal capitulat* layoff* insolven* default* recession panic* dive dives "
    "dived diving delist* sanction* outage* plummet* nosediv* crater* swoon* attack* ransom* launder* subpoena* indict* "
    "extradit* jail* prison plead* slam* blast* condemn* veto* evict* bloodbath blow",
    -3: "crash* collaps* hack hacks hacked hacker* hacking stole* steal* theft fraud* bankrupt* ponzi meltdown* wipeout",
}

NEGATIONS: Final = "no not never without cannot can't don't doesn't didn't isn't won't nor neither unlikely lacks lack"
# They reverse a word before or after them: fears that ease are good news, gains that fade are bad news.
REVERSERS: Final = (
    "avoid* cool cools cooled cooling curb* dismiss* drop* ease eases eased easing end ends ended erase* evaporat* fade fades "
    "faded fading fail* lift* overturn* pare pares pared reduc* reject* shrug* slow slows slowed stall* recover* surviv* "
    "halt* cut cuts fall* dash* unban* lose loses lost deny denies denied exit*"
)
# Words that can be reversed: conditions of a market, not its moves.
BURDENS: Final = (
    "ban bans charges concern* crackdown* fear* inflation lawsuit* loss losses pressure recession risk risks tension* "
    "tariff* uncertain* worr* sell-off selloff stress"
)
COMFORTS: Final = (
    "demand gain gains growth hope hopes momentum optimis* profit profits rally support confidence inflow*"
)

STRONGER: Final = (
    "sharp* massive* huge* heavy heavily record biggest largest major deep* dramatic* worst best strong* critical"
)
WEAKER: Final = "slight* modest* marginal* mild* somewhat barely may might could little"
# The words after these count less: they name what the news happened in spite of.
DESPITE: Final = "despite amid even though although"

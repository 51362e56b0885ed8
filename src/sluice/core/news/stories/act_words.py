"""The acts in headlines by the words that name them. A stem ends in *, $ is an amount, # a number, _ any word."""

from typing import Final

ACTS: Final = {
    # They look like an act and are none.
    "": "appeals court, appeal court, court of appeals, appellate court, bitcoin legal tender, down under",
    "approve": (
        "approv*, green light, greenlight*, nod, gives go-ahead, go-ahead, backs, back, endors*, passes, pass, "
        "passed, clears, clear, cleared, signs, signed, sign, becomes law, into law, adopts, ratif*, okay*, "
        "waves through, wave through, waved through, signs off, sign off, signed off, blesses, favour*, confirms, authoris*, authoriz*, enact*"
    ),
    "reject": (
        "reject*, turned down, turns down, turn down, den*, veto*, blocks, blocked, blocking, block bid, rebuff*, refus*, strikes down, "
        "votes down, vote down, voted down, shoots down, shoot down, shot down, fails to pass, spurn*, kills, killed, kill, scuttl*, rules out, ruled out, snub*, shun*, votes against"
    ),
    "pass": "passes, pass, passed, clears, adopts, adopted, adopt",
    "sign": "signs, signed, sign, becomes law, into law",
    "delay": (
        "delay*, postpon*, pushed, pushes back, pushed back, puts off, put off, extends deadline, extends review, extend review, must wait, waits longer, wait longer, buys time, deferred, defers, deferral, holds off, held off, pushes decision, pushes deadline"
    ),
    "begin": "begin*, began, start*, kicks off, commenc*, resum*",
    "buy": (
        "scoops up, scoop up, scooped up, to buy, buy*, bought, acquir*, purchas*, adds, added, add, invest*, spend*, spent, scoop*, snaps up, accumulat*, "
        "tops up, picks up, loads up, boosts holdings, boosts stash, boosts stake, expands holdings, increases holdings, grows holdings, adds to holdings, adds to stash, now owns, owns, own, hold, holds, discloses, reveals stake, reveals, reveal*"
    ),
    "sell": (
        "sell, sells, selling, sold, dump*, offload*, trim*, unload*, liquidates, disposes, divest*, cuts stake, cashes out, cash out, parts with, part with, unwinds, sale of, "
        "auctions, auction*"
    ),
    "layoff": "cut* # of staff, cut* # of workforce, cut* # of jobs, cut* # jobs, cut* # staff, axe* # jobs, axe* # staff, shed* # jobs, slash* # jobs, fire* # staff, dismiss* # staff, lays off, lay off, laying off, layoff*, job cuts, cuts jobs, cuts staff, cuts workforce, slashes workforce, slashes jobs, slashes staff, reduces workforce, reduces headcount, cuts headcount, axes jobs, axes staff, lets go, sheds jobs, redundan*, headcount, workforce",
    "jobs": "jobs",
    "hire": "hire, hires, hired, hiring, recruit*, adds jobs, adds staff",
    "burn": "burns, burned, burn, destroys",
    "praise": "prais*, hails, hail, lauds, touts, backs bitcoin",
    "criticise": "slams, slam, blasts, critici*, condemn*, mocks",
    "delist": "delist*, removes, removed from, thrown off, kicked off, throws off, drops from",
    "agree": "signs deal, strikes deal, strike deal, strike, strikes, inks, agreement, teams up, pact, deal",
    "exit": "exits, leaves, quits, withdraws from",
    "enter": "enters, enter, joins",
    "unfreeze": "unfreez*, unfroze, unblock*, releases funds",
    "mine": "mines, mined, produces, produced",
    "mint": "mint*, issues, prints",
    "move": "moves, moved, move, transfer*, sends, sent, send, deposit*, shift*, wakes up, relocat*",
    "withdraw": "withdraws, withdrew, pulls from exchange, takes off exchange",
    "rise": (
        "ris*, rose, surpass*, climb*, jump*, surg*, soar*, gain*, rall*, tops, topped, top, hits, hit, reach*, "
        "passes, cross*, exceed*, above, past, up, higher, record, all-time high, highest, best, increas*, lift*, "
        "rebound*, advanc*, beats, sets, spik*, grow*, grew, break*, broke, more than, crossed, rocket*, leap*, "
        "recover*, boost*, extends gains, new high"
    ),
    "fall": (
        "fall*, fell, drop*, slid*, slip*, dip*, plung*, tumbl*, sink*, sank, slump*, declin*, below, under, down, "
        "lower, eases, ease, crash*, worst, low, lowest, shrink*, shed*, retreat*, loses, bleed*, sell-off, loses $, lose $, lost $, "
        "selloff, weaken*, cool*, slow*, plummet*, dive*, skid*, tank*, crater*, nosediv*, swoon*, gives up gains, erases gains"
    ),
    "steady": (
        "steady, flat, unchanged, leaves rate*, holds above, holds rate*, keeps rate*, keeps key rate, leaves key rate, stands pat, stand pat, hold, stable, sideways, "
        "little changed, pauses"
    ),
    "raise": ("raises, raise, lifts target, hikes, hike*, raises target, raises forecast, higher limit, increases"),
    "cut": "trim* fee*, trim* its fee*, trim* forecast*, trim* target*, trim* rate*, reduction*, cuts, cut, lowers, lower target, quarter-point cut, trims rates, slashes, reduces",
    "hack": (
        "security incident, hack*, steal*, stole*, theft, breach*, exploit*, drain*, loot*, heist, attack*, stolen, siphon*, pilfer*, makes off with, make off with, made off with, compromised, raided"
    ),
    "halt": "halt*, on hold, freez*, frozen, froze, suspend*, paus*, stops, stopped, blocks withdrawals, blocks payouts, disables",
    "arrest": "arrest*, apprehend*, nab, nabs, nabbed, taken into custody, takes into custody, handcuff*, held in, held over, detain*, custody of police, suspect",
    "return": "returns, returned, gets back, get back, got back, receives back, pays back, hands back, refund*, reimburs*",
    "recover": "recovers, recovered, claws back, retriev*",
    "sue": (
        "sue, sues, sued, suing, files lawsuit, lawsuit, suit, complaint, case, legal action, takes to court, take to court, files complaint, files suit, sues over, legal challenge"
    ),
    "dismiss": (
        "dismiss*, toss*, throws out, thrown out, threw out, drops _ lawsuit, drops _ suit, drops _ case, closes _ probe, ends _ probe, drops _ probe, closes probe, closed probe, ends probe, ended probe, drops probe, dropped probe, closes investigation, closed investigation, ends investigation, ended investigation, drops investigation, drops lawsuit, drops case, drops suit, prevail*, "
        "wins dismissal, quash*, withdraws lawsuit, withdraws case, withdraws suit, withdrew lawsuit, drops charges"
    ),
    "charge": "charg*, accus*, indict*, defraud*, prosecut*, fraud*",
    "plead": "plead*, pleads guilty, pled, guilty plea, plea",
    "sentence": "gets # years, get # years, got # years, given # years, sentenc*, jail*, prison, years in, behind bars, jail term, prison term",
    "convict": "convict*, guilty, found guilty, finds guilty",
    "acquit": "acquit*, mistrial, hung jury, jury deadlock*, deadlocked jury, not guilty, found not guilty, walks free, walk free, cleared of",
    "fine": "fine, fines, fined, penalt*, must pay, ordered to pay, has to pay",
    "ban": "ban, bans, banned, barred from, barred by, prohibit*, outlaw*, forbid*, bars",
    "unban": (
        "becomes legal, legalises, legalizes, made legal, lifts _ ban, lift _ ban, lifted _ ban, ends _ ban, scraps _ ban, drops _ ban, lifts ban, lift ban, lifted ban, lifting ban, ends ban, "
        "scraps ban, may again, opens to retail, open accounts, unban*, lifts retail ban, opens crypto, "
        "opens bitcoin, ended a ban, legalis*, legaliz*, makes bitcoin legal, make bitcoin legal, makes crypto legal, bitcoin legal"
    ),
    "launch": (
        "sets up, creates, establishes, ship, ships, shipped, begin* shipping, begin* deliveries, start* deliveries, begin* trading, start* trading, trading debut, makes debut, stock market debut, launch*, may now, now offers, now supports, begins offering, kicks off, adds, opens, open, introduc*, rolls out, offer*, debut*, unveil*, starts, release*, out, "
        "available, lets, let, allow*, can now, can buy, can soon, accept*, enabl*, customers can, supports, "
        "starts offering, list, lists, goes live, coming to, comes to, opens crypto, opens bitcoin, turns on, switches on, enters market"
    ),
    "propose": (
        "propos*, motion, calls on, calls for, urges, introduces, introduc*, drafts, seeks, asks, files for, applies, requests, files, filing"
    ),
    "merge": "to buy, buyout, buys out, buy out, agrees to buy, swallows, take over, takes over, took over, taking over, taken over, takeover, acquisition, acquir*, merger, merge*",
    "bankrupt": "bankrupt*, goes bust, go bust, went bust, goes under, went under, collapses, seeks protection, into administration, into receivership, chapter 11, insolven*, creditors protection",
    "emerge": "emerges, emerge*, exits bankruptcy",
    "pay": "pay*, creditors receive, creditors get, creditors to get, creditors to receive, distribut*, payout*, paid, repayments, payouts, repay*",
    "inflow": (
        "inflow*, take in, takes in, took in, attract*, pour into, net inflows, see inflows, draw*, pull in, gather*"
    ),
    "outflow": (
        "outflow*, withdrawal of $, withdrawals of $, redemptions of $, pull*, bleed*, lose $, loses $, lost $, shed $, sheds $, yank*, withdraw $, exit*, leave*, flee*"
    ),
    "liquidate": "liquidation*, liquidat*, wiped out",
    "long": "long, longs, leveraged longs",
    "short": "short, shorts",
    "speak": "speak*, speech, testif*, keynote, remarks",
    "cancel": (
        "cancel*, scrap*, drops plan*, drops tax, ends tax, end tax, ends exemption, drops ban, drops bid, drops proposal, abolish*, repeal*, eliminat*, does away with, drops objection*, drops its, drops boycott, ends boycott, gives up resistance, gives up plan, calls off, called off, call off, withdraws, withdraws plan, abandon*, scrapped, shelv*, "
        "shelv*, on ice, recall*, takes back, take back, took back, strip, strips"
    ),
    "deny": "denies, deny, refutes",
    "launder": "launder*",
    "cover": "covered, cover losses, make whole, compensat*, reimburs*",
    "win": "wins, won, secures, obtains, granted, grants, receives, awarded",
    "lose": "loses, lose licence*, lose license*, withdraws licence*, withdraws license*, stripped, revok*, forfeits",
    "uphold": "uphold*, affirm*, keeps ban, stands by",
    "confirm": "confirm*, admits, acknowledg*",
    "ipo": "prices ipo, prices offering, ipo, go public, goes public, listing, to list, float",
    "meet": "meet, meets, met, talks with",
    "name": "names, named, becomes ceo, becomes _ ceo, becomes chief, becomes _ chief, as ceo, as chief, as new ceo, appoint*, taps, tapped, installs, promotes, chooses, selects, to lead, to head, top job, new ceo, new chief, hires, picks, nominat*",
    "order": "orders, ordered, order, deliver*",
    "streak": "streak, run of, straight, consecutive, losing run",
    "end": "ends, end, ended, snaps, snapped, snap, breaks, halts slide, is over, are over, it's over",
    "extend": "extends, extend, extended, continues, longer",
    "target": "target*, forecast*, predict*, bet on, could hit, sees bitcoin at, price objective",
    "forced": "orders, must, ordered to, forced to",
    "spare": "spares, spare, spared, excus*, need not, exempt*",
    "seize": "seiz*, confiscat*, forfeit*, takes down, took down, taken down, dismantl*",
    "extradite": "extradit*",
    "downgrade": "downgrad*, rating cut, cuts rating, lowers rating, cut to junk",
    "upgrade": "upgrad*, rating raised, raises rating, lifts rating",
    "free": "freed, frees, police free, rescue, rescued, rescues, released from captivity, set free",
    "resign": "resign*, bows out, bow out, leaves post, exits as, to step down, steps down, step down, stepped down, stepping down, quits as, departs, leaves as, steps aside, ousted, fired",
    "keep": "keeps, keep, kept, retain*, will not remove, won't remove, stays in, remains in, holds on to, hangs on to, will not sell, won't sell",
    "remove": "delist*, removes, remove, removed, drops from, throws out of, ejects, expels, left out, leaves out, exclud*, kicks out, kicked out",
    "donate": "donat*, gives to, gifts, contributes",
    "reopen": "restart*, resum* after, reopen*, fixed, resolved, resolves, run again, restart*, back online, returns online, restores, restored, may run",
    "offline": "offline, goes down, go down, went down, goes dark, go dark, went dark, outage, knocked out, locked out, unable to log in, cannot log in, can't log in",
    "double": "doubl*, twice, twofold, two-fold",
    "halve": "halv*, in half, by half",
    "allow": "lets, let, may now, can now, allow*, permits, permitted, may again",
    "create": "creates, create, created, sets up, set up, establish*, forms, founds, founded",
    "complete": "completes, completed, closes deal, finalis*, finaliz*",
    "bounty": "bounty, reward for",
    "tighten": "tighten*, toughen*, crackdown, crack down, cracking down, stricter, clamps down, cracks down",
    "loosen": "loosen*, relax*, eases rules, softens",
    "react": "react*, response to",
    "require": "require*, mandat*",
    "pardon": "pardon*, clemency, commut* sentence, commutes",
    "allocate": "sets aside, set aside, earmark*, allocat*, ringfenc*",
    "limit": "caps, capped",
    "kidnap": "kidnap*, abduct*",
    "close": "winds down, wind down, wound down, pulls the plug, pull the plug, shutter*, ceases operations, to shut, close, closes, closed, shut, closing stores, shuts, shut down, shuts down",
    "fund": "invests $, puts $, gets $, receives $, secures $, lands $, injects $, raises $, raise, raises, share sale, funding, offering, bond sale, convertible, notes",
    "patch": "patch*, fixes, fix, fixed flaw, closes hole, closes flaw, flaw closed, plugs",
    "call": "calls, describes, says bitcoin",
    "consider": "consult*, consider*, mulls, weighs, explores",
    "repeat": "repeats, reiterat*, reaffirm*, renews",
    "join": "joins, join, joined, added to, to add, inclusion, included in",
    "settle": "settle*, settlement",
    "appeal": "appeal*",
    "merge_vote": "to vote, vote on",
}
# Acts that exclude each other: one headline has the first and not the second, the other the second and not the first.
OPPOSITES: Final = (
    "approve/reject, approve/delay, begin/delay, buy/sell, buy/mine, sell/mine, rise/fall, raise/cut, "
    "inflow/outflow, ban/unban, long/short, hack/recover, hack/return, hack/arrest, deny/confirm, end/extend, "
    "dismiss/sue, speak/cancel, forced/spare, bankrupt/emerge, plead/sentence, steady/cut, steady/raise, "
    "steady/rise, steady/fall, move/withdraw, buy/withdraw, approve/consider, ban/consider, unban/repeat, "
    "unban/consider, approve/merge_vote, mint/sell, pay/delay, launch/cancel, launch/close, charge/sentence, "
    "charge/plead, sue/settle, arrest/sentence, arrest/charge, begin/halt, win/lose, win/reject, uphold/reject, "
    "uphold/dismiss, fund/pay, launch/halt, approve/ban, unban/ban, pay/fund, layoff/hire, downgrade/upgrade, keep/remove, keep/sell, join/remove, reopen/close, reopen/halt, offline/reopen, double/halve, tighten/loosen, allow/forced,  cut/hire, mint/burn, praise/criticise, launch/delist, enter/exit, "
    "launch/reject, halt/unfreeze, join/exit, join/reject, begin/end, launch/end, pass/sign, convict/acquit, convict/sentence, acquit/sentence, charge/convict, charge/acquit, "
    "allow/ban, allow/reject, allow/halt, launch/ban, ban/limit, plead/convict, close/enter, close/begin"
)
# Acts that follow an event: a headline with one of them is about the next event.
FOLLOW_UPS: Final = (
    "delay, arrest, dismiss, return, recover, launder, cover, sentence, plead, react, settle, appeal, cancel, emerge, deny, "
    "consider, reopen, complete, bounty, patch, extradite, free"
)

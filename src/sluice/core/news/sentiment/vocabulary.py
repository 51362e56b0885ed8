"""The vocabulary of Bitcoin headlines. Entries are separated by commas; a word that ends in * is a stem.

$ stands for an amount of money, % for a share, # for a number.
"""

from typing import Final

# Moves and levels: whether one is good depends on what moves.
UP: Final = (
    "surg*, soar*, jump*, climb*, rally, rallies, rallied, rallying, rise, rises, rising, rose, risen, gain, gains, "
    "gained, gaining, rebound*, bounce, bounces, bounced, bounces back, recover, recovers, recovered, recovering, "
    "recovery, advanc*, rocket*, skyrocket*, spik*, leap*, top, tops, topped, cross, crosses, crossed, exceed*, "
    "surpass*, passes $, pass $, passed $, hits $, hit $, reach, reaches, reached, reclaim*, extends gain*, "
    "extends rally, higher, up, swell*, grow, grows, grew, growing, growth, double, doubles, doubled, tripl*, "
    "accelerat*, boom*, increas*, deepen*, widen*, mount, mounts, mounting, balloon*, edges higher, ticks up, pop, "
    "pops, pushes past, push past, breaks above, break above, broke above, breaks out, breakout, breaks through, "
    "firmed, outperform*, outpac*, smash*, shatter*, explod*, thriv*, flourish*, improv*, pump, pumps, pumped, "
    "turns positive, turns green, strengthen*, multipl*, quadrupl*, skies, roar*, march*, stamped*, power*, vault*, "
    "storm*, snapback, upswing, uptick, uptrend, snaps back, ascend*, notch*, inches up, inches higher, nudges up, "
    "creeps up, ticks higher, heads higher, heat* up, takes off, take off, bursts, blasts past, blows past, "
    "races past, races to, sprint*, barrels, rips, swings higher, turns up, resumes climb, resumes rally, regain*, "
    "retak*, recaptur*, conquer*, nears $, approaches $, closes in on $, picks up, pick up, gathers pace, gather pace, "
    "perks up, reviv*, resurg*, adds %, add %, added %, puts on %, powers, powered, powering, back above, vaults, "
    "claws back, claw back, eclips*, overtak*, hits high, on a tear, on fire, on the rise, in rally mode, "
    "keeps climbing, nudges higher, trades above, swell, swelled, trending up, squeezes past, hoist*, elevat*, "
    "propel*, catapult*, send* higher, sends bitcoin higher, lifts bitcoin, springs back, spring back, marches on, "
    "keeps rising, unstoppable, extends lead, ahead %, stretches, on track for best, firmer, raises bitcoin, "
    "raises stake, raises target, raises holdings, ends higher, ended higher, closes higher, closed higher, "
    "finishes higher, ends up, opens higher, past $, zips, regains footing, back to normal, on the up, powers ahead, surges ahead, heads north, goes north, in the ascendancy, piles up, builds, hits new, scales, scaled, "
    "lights up, catches fire, catches a bid, finds support, finds its footing, finds footing, turns the corner, tops out at record, "
    "breaks record, broke record, best-ever, extends streak, marks record, hits all-time, makes new high, pulls ahead, outstrip*, "
    "outpaced, beats gold, beats stocks, outdo*, back over, back at $, sets sights on, eyes $, eyeing $, targets $, within reach"
)
DOWN: Final = (
    "fall, falls, falling, fell, fallen, drop, drops, dropped, dropping, plung*, tumbl*, slide, slides, sliding, slid, "
    "slump*, sink, sinks, sank, sinking, slip*, dip, dips, dipped, declin*, crash*, collaps*, plummet*, crater*, "
    "nosediv*, retreat*, lower, down, shrink*, shrank, shrunk, slow, slows, slowed, slowing, weaken*, weaker, soften*, "
    "cool, cools, cooled, cooling, dwindl*, evaporat*, vanish*, dry up, dries up, dried up, fade, fades, faded, "
    "fading, subsid*, reced*, abat*, stall*, loses steam, lose steam, lost steam, loses momentum, lose momentum, lags, "
    "lag, lagging, lagged, left behind, trail, trails, breaks below, break below, broke below, bleed*, bled, sheds, "
    "shed, shedding, underperform*, wobbl*, stumbl*, sour, sours, soured, dive, dives, dived, diving, skid*, cave, "
    "caves, buckl*, worsen*, wane, wanes, waning, pare, pares, pared, slash*, halv*, ease, eases, eased, easing, sag, "
    "sags, sagged, swoon*, cut in half, downturn, downtrend, nose-div*, backslid*, ebb, ebbs, erod*, wither*, crumbl*, "
    "tank, tanks, tanked, sell off, sells off, sold off, falter*, fizzl*, peters out, petered out, short-lived, "
    "cut short, runs dry, runs out of steam, run out of steam, out of steam, unravel*, topples, toppled, spiral*, "
    "tailspin, freefall, free fall, free-fall, in the red, hammer*, batter*, pummel*, clobber*, implod*, breaks down, "
    "breakdown, turns negative, turns red, turns lower, heads lower, inches lower, ticks down, edges lower, "
    "edges down, creeps lower, loses ground, lose ground, gives ground, cede, cedes, loses grip, lose grip, lost grip, "
    "surrender*, relinquish*, drifts lower, flushed, flush, deflat*, flounder*, languish*, loses %, lost %, sheds %, "
    "slipping, on the slide, under water, slow to a trickle, slows to a trickle, comes unstuck, rolls over, "
    "keeps falling, trades below, trending down, fallen short, thins, nosedives, backs off highs, takes a hit, "
    "takes a beating, took a beating, peak* at, knock*, jolt*, rocked, shak*, sends bitcoin lower, send* lower, "
    "push* lower, drag* lower, pull* back, pullback, pulls back, setback, third weekly loss, weekly loss, off highs, "
    "off its high, from record, chok*, starv*, dent*, snap* lower, nosedove, unwind*, thins out, cut %, ends lower, "
    "ended lower, closes lower, closed lower, finishes lower, ends down, opens lower, below $, under $, sees red, "
    "see red, is gone, are gone, in freefall, dims, dim, dimmed, dimming, in retreat, crumble, in tatters, on the wane, thin, thinned, on life support, losing steam, losing momentum, losing ground, loses luster, loses lustre, "
    "loses its shine, loses shine, hits a wall, hits the wall, runs into resistance, cracks, sputter*, droop*, slither*, sinking, bottom out, "
    "gets hammered, gets crushed, nears collapse, heads south, goes south, in decline, on the ropes, undercut*, has peaked, have peaked, unplug*"
)
HIGH: Final = (
    "year high, month high, week high, day high, yearly high, all-time high, record high, new high, fresh high, "
    "new record, fresh record, highest, best level, best day, best week, best month, best quarter, best year, "
    "best session, best run, strongest, best january, best february, best march, best april, best may, best june, "
    "best july, best august, best september, best october, best november, best december, lifetime peak, new peak, "
    "fresh peak, lifetime high, all-time peak, sets record, hits record, hit record, set record, hits peak, "
    "hits a record, sets a record, record close, record run"
)
LOW: Final = (
    "year low, month low, week low, day low, yearly low, all-time low, record low, new low, fresh low, lowest, "
    "worst day, worst week, worst month, worst quarter, worst year, worst session, worst run, worst january, "
    "worst february, worst march, worst april, worst may, worst june, worst july, worst august, worst september, "
    "worst october, worst november, worst december, rock bottom, multi-year low"
)
# They undo the thing after them, or the thing before them when they stand last.
UNDO: Final = (
    "end, ends, ended, halt, halts, halted, stop, stops, stopped, snap, snaps, snapped, snaps out of, broken, is over, "
    "are over, scrap, scraps, scrapped, toss, tosses, tossed, throws out, throw out, threw out, thrown out, dismiss*, "
    "kill, kills, killed, strikes down, struck down, strike down, overturn*, quash*, void, voids, voided, eras*, "
    "wipes out, wipe out, wiped out, reject*, veto*, block, blocks, blocked, cancel*, repeal*, revok*, rescind*, "
    "defeat*, reverse, reverses, reversed, shelv*, paus*, suspend*, ditch*, axe, axes, axed, abolish*, delay*, "
    "postpon*, backs away from, back away from, backs off, back off, so much for, derail*, turns down, turned down, "
    "a mistake, misguided, dash, dashes, dashed, spurn*, nix, nixes, nixed, shoots down, shot down, vote down, "
    "votes down, voted down, refuses, denied, denies, closes door, abandon*, pushed back, pushes back, push back, "
    "puts off, put off, on ice, put on hold, puts on hold, kicks down the road, calls off, called off, strips, "
    "stripped, undo, undoes, laps*, buries, bury, sinks bill, torpedo*, stymi*, thwart*, foil*, frustrat*, "
    "comes to an end, comes to an abrupt end, came to an end, come to an end, has ended, have ended, on hold, unfounded, "
    "overblown, exaggerated, baseless, misplaced, premature, groundless, back down, backs down, backed down, backtrack*, walks back, walk back, walked back, retreats from, "
    "waters down, water down, gives up on, holds off, hold off, held off, opts against, decides against, drops plan*, drops bid*, "
    "u-turn on, scuttl*, sunset*, put to rest, laid to rest, debunk*"
)
# They undo bad things only: nobody lifts a profit in order to end it.
RELIEVE: Final = (
    "recover, recovers, recovered, recoup*, lift, lifts, lifted, surviv*, weather*, settle, settles, settled, resolv*, "
    "escap*, avoid*, avert*, dodg*, shrug*, defy, defies, defied, brushes off, fend*, spar*, stem, stems, curb*, "
    "reduc*, ease, eases, eased, easing, relax*, loosen*, withdraw, withdraws, withdrew, drop, drops, dropped, "
    "acquit*, pardon*, scales back, fall short, falls short, fell short, waiv*, fails, failed, cut, cuts, beats, "
    "clears, cleared, exempt*, rul* out, plays down, calm*, sooth*, offset*, absorb*, fix, fixes, fixed, patch*, "
    "refund*, reimburs*, shakes off, shake off, undo, undoes, remov*, end to, relief from, after surviving, drop all, "
    "drops all, walk away from, walks away from, rowing back, rows back, softens, soften, runs out of, rebounds from, "
    "bounces back from, emerges from, exits, out of, free of, freed from, pays no attention to, ignores, ignore, "
    "unfazed by, unmoved by, overcom*, overcame, safe from, immune to, shielded from, insulated from"
)
NEGATIONS: Final = (
    "not, no, never, without, cannot, can't, don't, doesn't, didn't, isn't, aren't, won't, wasn't, hasn't, haven't, "
    "wouldn't, couldn't, nor, neither, unlikely, hardly, fail to, fails to, failed to, failing to, refuse to, "
    "refuses to, refused to, unable, yet to, far from, lack of, little sign, no sign, nobody, none, stops short of, "
    "so far from, anything but, no longer, rule out, rules out, ruled out, decline to, declines to, declined to, "
    "will not, does not, do not, did not, stop* short of, struggl* to, too early to, remain* unable"
)
# Things whose rise is bad and whose fall is good, and the other way round.
BURDENS: Final = (
    "fee, fees, yields, yield, inflation, cpi, dollar, outflow*, fear*, volatility, exchange balance*, "
    "exchange reserve*, supply on exchange*, exchange supply, balances on exchange*, coins on exchange*, loss*, "
    "liquidation*, unemployment, short interest, tariff*, tension*, worr*, concern*, pressure, sales pressure, debt, "
    "tax*, interest rates, bankruptc*, hack*, scam*, theft*, crime*, lawsuit*, complaint*, sell-off*, defaults, "
    "jobless claims, costs, premium gap, reserves on exchange*, case, charges, appeal, probe*, investigation*, "
    "restriction*, limits, ban, losses, slide, slump, downturn, losing streak, losing run, red days, selloff*, "
    "guidance, barrier*, hurdle*, amendment, sanction*, exchange inflow*, inflows to exchange*, deposits to exchange*, "
    "hash difficulty, drawdown*, exposure limits, requirements, red tape, panic, uncertain*, crackdown*, rout, "
    "jitter*, gloom, bear market, penalt*, fine, fines, energy use, crash, collapse, bubble, short position*, war, "
    "risk*, bitcoin supply on exchange*, issuance, interest rate*, bond yield*, treasury yield*, borrowing cost*, "
    "exchange deposits, counts, indictment*, allegation*, rule, rules, broker rule, reporting rule*, mandate*, levy, "
    "cap, caps, curbs, obstacle*, injunction*, warrant*, selling pressure, sell pressure, sell-side pressure, "
    "miner selling, overhang, declines, plan to ban, plan to cap, plan to tax, plan to restrict, bears, restrictions, "
    "clampdown*, freeze, shortage*, downtrend, backlog, withdrawal queue*, rate fears, recession*, hike*, winter, "
    "crypto winter, scare, outage, selling, sales by miners, whale selling, exchange flows, unrealised losses, "
    "unrealized losses, bad debt, obligations, redemptions, supply overhang, censorship, fud"
)
ASSETS: Final = (
    "bitcoin, btc, xbt, bitcoin's, price, prices, hash rate, hashrate, inflow*, demand, adoption, dominance, capacity, "
    "holdings, revenue, profit*, margins, sentiment, gains, assets, rally, hopes, hope, momentum, crypto, market, "
    "markets, hash price, hashprice, sales of bitcoin, stake, balance sheet, recovery, confidence, balances, "
    "weak dollar, weaker dollar, dollar weakness, reserve bill, market structure bill, bull run, winning streak, "
    "winning run, uptrend, breakout, approval, advance, profit margin*, profit margins, realised cap, realized cap, "
    "open interest, etf assets, transactions, bitcoin reserve, strategic reserve, purchases, buying, appetite, "
    "lightning capacity, inflow streak, tax-free status, favourable ruling, ruling, optimism, liquidity, market cap, "
    "market value, tvl, treasuries' holdings, etf demand, premium, bounce, volume, exposure, allocation, stash, "
    "active addresses, addresses, hash power, computing power, earnings, rebound, comeback, uptake, ownership, "
    "retail interest, treasury, ambitions, bulls, etf approval"
)
# Whose matter it is.
BITCOIN: Final = (
    "bitcoin, bitcoins, btc, xbt, bitcoin's, satoshi*, crypto, cryptocurrenc*, spot etf*, etf, etfs, miner, miners, "
    "mining, exchange, exchanges, coinbase, kraken, binance, gemini, strategy, microstrategy, metaplanet, blackrock, "
    "grayscale, fidelity, holder, holders, wallet, wallets, digital asset*, hodl*, halving, lightning, whale, whales, "
    "saylor, coins, hash, bulls, long, longs, custody"
)
OTHERS: Final = (
    "ether, eth, ethereum, solana, sol, xrp, ripple, dogecoin, doge, memecoin*, shiba, cardano, ada, litecoin, tron, "
    "avalanche, polkadot, altcoin*, altcoins, nft*, defi, gold, silver, copper, oil, tesla, nvidia, apple, stock, "
    "stocks, shares, nasdaq, dow, s&p, s&p 500, equities, dollar, euro, yen, pound, bonds, treasuries, usdt, usdc, "
    "bnb, hyperliquid, sui, toncoin, pepe, zcash, monero, real estate, housing, amazon, microsoft, meta, opensea, "
    "luna, platinum, palladium, tesla's, sp500, forex, bank stocks, chip stocks, ai stocks, tech stocks, tech shares, "
    "wrapped, ether's, solana's, cardano's, polymarket, aave, uniswap, chainlink, near protocol, ai tokens, altcoin's, "
    "xrp's"
)
FOES: Final = (
    "short sellers, short seller, shorts, bears, short traders, nocoiner*, peter schiff, schiff, skeptics, sceptics"
)
CRIMINALS: Final = (
    "hacker, hackers, hacker's, thief, thieves, scammer*, fraudster*, gang, gangs, attacker*, launderer*, culprit*, "
    "suspect*, ransomware gang*, crook*, criminal*, swindler*, mastermind*, man behind, "
    "woman behind, men behind, people behind, brains behind, ringleader*, kidnapper*, robber*, extortionist*, "
    "who stole, who hacked, who defrauded, who laundered, who robbed, who scammed, who drained, accused of stealing"
)
CAUGHT: Final = (
    "arrest*, caught, jail*, sentenced, convict*, charged, extradit*, pleads guilty, pleaded guilty, guilty, returns, "
    "returned, gives back, indict*, behind bars, detain*, in custody, captured, nabbed, identified, seiz*, busted, "
    "raid*, prison, years in, gets # years, dismantl*, taken down, takes down, took down, broken up, breaks up, unmask*, "
    "turns himself in, handed over, handcuff*, foil*, thwart*, repays, repaid"
)
# Phrases whose words mean nothing here.
NOTHING: Final = (
    "capital gains, tax authority, tax office, tax guidance, tax return*, tax season, tax report*, tax rules, "
    "tax treatment, gain exposure, gains exposure, long-term, short-term, up to, set up, sets up, start-up, startup*, "
    "top 10, top ten, lead up, back up, follow up, follow-up, low fee*, high school, high court, supreme court, "
    "lower house, upper house, lower court, drop-down, air drop, cross-border, cross-chain, hit song, power grid, "
    "power contract*, power plant*, power price*, rocket pool, support for, hard fork, soft fork, cold wallet, "
    "losing track, risk management, risk assets, fund manager, growth stock*, rising star, pop-up, pop culture, "
    "dive into, deep dive, jump to, march 1*, lists bitcoin, record date, on record, track record, off the record, "
    "top official*, top lawyer*, top executive*, win* over, boom town, boost mobile, up for grabs, gold rush, "
    "cool wallet, market share, coin flip, stress test*, legal battle, lower third, crash course, double check, "
    "end of year, year end, year-end, week's end, bear stearns, bull* and bear*, record label, buy* time, up next, "
    "coming up, signs of life, moves up, lower back, power of, power prices, in power, powers of, top cop, leak test, "
    "no record, record keeping, hit single, rules on, rules in, bill gates, pass through, burst mode, up or down, "
    "fake news, is not over, isn't over, not over, far from over, not dead, isn't dead, bulls and bears, ends the day, "
    "ends the week, ends the month, ends the year, ends year, ends day, ends week, ends month, ended the day, "
    "ended the week, ended the month, end the day, block size war, price war, war chest, star wars, war on, power of attorney, "
    "light up, up 24, sign up, signs up, sell-side, buy-side, hard-to, long read, bulls eye, top up, gold standard, golden, break even, "
    "coin toss, seized bitcoin*, seized btc, seized coins, seized crypto, confiscated bitcoin*, confiscated coins, end the day, end the week, ends session, ends the session, ends october, "
    "ends november, ends quarter, ends the quarter"
)

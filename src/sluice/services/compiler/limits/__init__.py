"""What one request and one compilation may use: fetches, memory, and turns in the isolate.

What strangers may cause is bounded here, in one place. A request has 100 fetches, counted on the wire (`allowance.py`),
over all attempts of a job, item or workflow (`spent_fetches.py`). The text of a list has a budget of memory
(`memory.py`). Turns let an isolate compile one large list at a time beside small ones (`turns.py`). Beyond the first two
limits the caller is told to split the list (413); who waits too long for a turn, to try again (502). The lists of `WARM_CONFIGURATIONS` are the operator's, and exempt from the
first.

What is a stranger's stays theirs. A job, its list and its content belong to whoever holds its id, of which 128 bits are
random. Content that a caller sends is deleted when its job ends, and no record that lives longer quotes it. A
stranger's health check is answered and forgotten, also one of the operator's sources; only the cron and the operator's
token store one. The body of a refused request is read before the reply, up to 8 MB and 10 s, because workerd resets the
connection otherwise.
"""

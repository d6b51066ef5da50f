"""The rules of a route, one file each: by how much a route breaks them, and what is kept of it to tell quickly.

A rule measures: its *violation* is 0 for a route that keeps it, else an amount in its own unit (goods too many, time
too late, time or distance too long, stops too many). A violation costs a price for each unit; while that is infinite
(``State.load_price`` and so on) the rule is hard. Rules with nothing to measure (skills, order of backhauls, order of
shipments) are always hard.

=============  =============================  ===================================================================
file           unit of its violation          kept of a route
=============  =============================  ===================================================================
`length`       distance                       length (State.length), arcs
`load`         goods                          loads at both ends; the most on board up to a stop and from it on
`time`         time                           earliest departure from a stop, latest start there; lateness
`duration`     time                           least duration of the stretch up to a stop, and from it on
`stops`        stops                          size
`skills`       hard                           nothing
`backhauls`    hard                           nothing
`shipments`    hard; longest ride: hard       nothing
=============  =============================  ===================================================================

Each file has, as far as the rule needs them:

- ``violation_of_sequence(state, count, vehicle)``: by how much the stops in ``State.sequence`` break the rule as a
  route of a vehicle type. That is the definition; insertions, moves and the exchange of vehicles follow from it.
- ``renew(state, slot, vehicle, ...)``: work out again what is kept of a route that has changed; return its violation.
- functions that tell the violation of a route with one more stop from what is kept, in O(1).

The checker in `problem` shares no code with them.
"""

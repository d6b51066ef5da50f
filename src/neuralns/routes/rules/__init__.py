"""The rules of a route, one file each: by how much a route breaks them, and what is kept of it to tell quickly.

A rule measures: its *violation* is 0 for a route that keeps it, else an amount in its own unit (goods too many, time
too late, time or distance too long, stops too many). A violation costs a price for each unit; while that is infinite
(``State.load_price`` and so on) the rule is hard. Rules that have no amount (skills, fleet, groups, stock, order of
backhauls, order and longest rides of shipments) are always hard.

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
`shipments`    hard                           nothing
`groups`       hard                           members served, by group
`fleet`        hard                           vehicles in use, by type
`stock`        hard                           goods given out, by depot
=============  =============================  ===================================================================

Each file has, as far as the rule needs them:

- The *definition*, for the stops in ``State.sequence`` as a route of a vehicle type. `cost.cost_of_sequence` asks all
  of them, and openings, moves, joins and the exchange of vehicles ask it. (Only `cost_of_whole_sequence` asks whether
  shipments are in order, which moves and joins may change.) Rules that measure return their amount:
  ``violation_of_sequence`` of `time`, ``of_sequence`` of `load`; `length`, `duration` and `stops` have a total and
  ``violation`` of that. Hard rules return whether they are kept: ``keeps_sequence``, and ``keeps_rides``.
- What is *kept* of a route that has changed: ``extend_head`` adds a stop behind a stretch, ``extend_tail`` ahead of
  one, ``finish`` returns the violation. `cost.renew` asks them, and ``keeps_route`` of hard rules.
- *One more stop* between two others, in O(1) from what is kept: ``violation_between``, ``fits_between`` and so on.
  `insertion` asks them for a customer, `shipment_insertion` for both stops of a shipment. The longest ride has none:
  they ask its definition.

The checker in `problem` shares no code with them.
"""

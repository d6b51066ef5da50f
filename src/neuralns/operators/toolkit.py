"""What operators are written with: all that built-in ones import, and yours."""

from neuralns.compiled.caching import compiled
from neuralns.compiled.random import randint, random, random_rank
from neuralns.operators.destroy.picking import (
    nearest_routed,
    random_route,
    random_routed,
    remove_by_rank,
    remove_route,
    select_largest,
)
from neuralns.operators.registry import destroy, repair
from neuralns.operators.repair.table import (
    fill_table,
    find_cheapest,
    insert_row,
    list_routes,
    renew_cell,
)
from neuralns.routes.edits import insert, new_mark, open_route, remove
from neuralns.routes.evaluate import (
    beside,
    best_insertion,
    best_near,
    best_opening,
    distance,
    ends_of_requests,
    from_depot,
    has_windows,
    hopeless,
    insertion,
    is_wanted,
    join,
    least_need,
    may_fit,
    may_run_out,
    may_take,
    off_opening,
    other_end,
    penalty,
    random_place,
    removal,
    renew_best,
    start_of_service,
    worth,
)
from neuralns.routes.history import seen_cost

__all__ = [
    "beside", "best_insertion", "best_near", "best_opening", "compiled", "destroy", "distance", "ends_of_requests",
    "fill_table", "find_cheapest", "from_depot", "has_windows", "hopeless", "insert", "insert_row", "insertion",
    "is_wanted", "join", "least_need", "list_routes", "may_fit", "may_run_out", "may_take", "nearest_routed",
    "new_mark", "off_opening", "open_route", "other_end", "penalty", "randint", "random", "random_place",
    "random_rank", "random_route", "random_routed", "removal", "remove", "remove_by_rank", "remove_route",
    "renew_best", "renew_cell", "repair", "seen_cost", "select_largest", "start_of_service", "worth",
]  # fmt: skip

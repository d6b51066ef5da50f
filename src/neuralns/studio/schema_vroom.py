"""VROOM's JSON in the words of JSON Schema: what ``POST /`` takes, and what it answers."""

from __future__ import annotations

from neuralns.studio.schema_parts import NUMBER, TEXT, WHOLE, Schema, answer, many, ref, request, typed

_PLACE = many(NUMBER, "longitude and latitude", minItems=2, maxItems=2)
_INDEX = typed("integer", "row and column of the matrices", minimum=0)
_WINDOW = many(NUMBER, "from when to when, in seconds", minItems=2, maxItems=2)
_AMOUNTS = many(NUMBER, "as many amounts as capacities have")
_SKILLS = many(WHOLE)
_TABLE = many(many(NUMBER), "a square table, from row to column")
_SECONDS = typed("number", "seconds")
_TASK: dict[str, Schema] = {
    "id": typed("integer", "its number", minimum=0),
    "description": TEXT,
    "location": _PLACE,
    "location_index": _INDEX,
    "setup": typed("number", "seconds, where the vehicle comes from another place"),
    "service": _SECONDS,
    "time_windows": many(_WINDOW, "when it may begin"),
}
_SHARED: dict[str, Schema] = {"skills": _SKILLS, "priority": typed("integer", minimum=0, maximum=100)}

_INPUT: dict[str, Schema] = {
    "VroomProblem": request(
        {
            "vehicles": many(ref("Vehicle"), minItems=1),
            "jobs": many(ref("Job")),
            "shipments": many(ref("Shipment")),
            "matrices": typed(
                "object", "by profile; without them, great circles stand in", additionalProperties=ref("Matrices")
            ),
            "matrix": many(many(NUMBER), "an older word for the durations of profile car"),
            "options": ref("VroomOptions"),
        },
        "vehicles",
    ),
    "Vehicle": request(
        {
            "id": typed("integer", "its number", minimum=0),
            "profile": typed("string", "which matrices; car by default"),
            "description": TEXT,
            "type": TEXT,
            "start": _PLACE,
            "start_index": _INDEX,
            "end": _PLACE,
            "end_index": _INDEX,
            "capacity": _AMOUNTS,
            "costs": ref("Costs"),
            "skills": _SKILLS,
            "time_window": _WINDOW,
            "speed_factor": typed("number", "above 0, up to 5"),
            "max_tasks": typed("integer", minimum=0),
            "max_travel_time": _SECONDS,
            "max_distance": typed("number", "metres"),
            "steps": many(ref("VehicleStep"), "the route to start from"),
        },
        "id",
    ),
    "VehicleStep": request(
        {"type": typed("string", enum=["start", "job", "pickup", "delivery", "end"]), "id": WHOLE}, "type"
    ),
    "Costs": request({"fixed": NUMBER, "per_hour": NUMBER, "per_task_hour": NUMBER, "per_km": NUMBER}),
    "Job": request(
        {
            **_TASK,
            "delivery": _AMOUNTS,
            "pickup": _AMOUNTS,
            "amount": many(NUMBER, "an older word for delivery"),
            **_SHARED,
        },
        "id",
    ),
    "Shipment": request(
        {"pickup": ref("ShipmentStep"), "delivery": ref("ShipmentStep"), "amount": _AMOUNTS, **_SHARED},
        "pickup",
        "delivery",
    ),
    "ShipmentStep": request(_TASK, "id"),
    "Matrices": request({"durations": _TABLE, "distances": _TABLE, "costs": _TABLE}),
    "VroomOptions": request(
        {
            "l": typed("number", "seconds to search"),
            "x": typed("number", "level of exploration, 0 to 5: without l, a share of the default time"),
            "t": typed("number", "processes that search at once"),
            "g": typed("boolean", "add the lines of routes"),
            "c": typed("boolean", "times of given routes; not supported"),
            "seed": typed("integer", minimum=0),
            "lenient": typed("boolean", "go on without keys that are not understood, and name them in the notes"),
        }
    ),
}

_GOODS = {name: many(NUMBER) for name in ("delivery", "pickup", "amount")}
_TIMES = dict.fromkeys(("setup", "service", "waiting_time", "duration"), NUMBER)
_SPOT: dict[str, Schema] = {"location": _PLACE, "location_index": _INDEX, "description": TEXT}
_VIOLATIONS = many(typed("object"), "always empty: routes keep all rules")

_OUTPUT: dict[str, Schema] = {
    "VroomAnswer": answer(
        {
            "code": typed("integer", "0"),
            "generator": typed("string", "neuralns"),
            "summary": ref("Summary"),
            "unassigned": many(ref("Unassigned")),
            "routes": many(ref("Route")),
        }
    ),
    "Summary": answer(
        {
            "cost": NUMBER,
            "routes": WHOLE,
            "unassigned": typed("integer", "tasks on no route; a shipment is two"),
            **_TIMES,
            "priority": NUMBER,
            "violations": _VIOLATIONS,
            "notes": many(TEXT, "what should be known of the answer, such as keys that were left out"),
        },
        **_GOODS,
        distance=NUMBER,
        computing_times=ref("ComputingTimes"),
    ),
    "ComputingTimes": answer(
        {"loading": typed("integer", "milliseconds"), "solving": typed("integer", "milliseconds")},
        routing=typed("integer", "milliseconds, where lines were asked for"),
    ),
    "Unassigned": answer({"id": WHOLE, "type": TEXT}, **_SPOT),
    "Route": answer(
        {
            "vehicle": WHOLE,
            "cost": NUMBER,
            **_TIMES,
            "priority": NUMBER,
            "steps": many(ref("Step")),
            "violations": _VIOLATIONS,
        },
        **_GOODS,
        distance=NUMBER,
        description=TEXT,
        geometry=typed("string", "the encoded line from stop to stop, straight"),
    ),
    "Step": answer(
        {
            "type": typed("string", "start, job, pickup, delivery or end"),
            **_TIMES,
            "arrival": NUMBER,
            "violations": _VIOLATIONS,
        },
        id=WHOLE,
        job=typed("integer", "the same as id"),
        load=many(NUMBER),
        distance=NUMBER,
        **_SPOT,
    ),
    "VroomError": answer(
        {"code": typed("integer", "1 internal, 2 input, 4 too large"), "error": typed("string", "one sentence")}
    ),
}
VROOM_PARTS = _INPUT | _OUTPUT

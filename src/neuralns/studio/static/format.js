// Numbers and times as people read them.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const fine = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });
const significant = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

export const number = (value) =>
  value === null || value === undefined || Number.isNaN(value) ? "–" : Number.isInteger(value) ? whole.format(value) : fine.format(value);

export const brief = (value) =>
  value === null || value === undefined || !Number.isFinite(value) ? "–" : significant.format(value);

export const percent = (share) => (Number.isFinite(share) ? `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %` : "–");

export const seconds = (value) =>
  !Number.isFinite(value)
    ? "–"
    : value < 100
      ? `${value.toFixed(1)} s`
      : value < 6000
        ? `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`
        : `${Math.floor(value / 3600)} h ${Math.round((value % 3600) / 60)} min`;

const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");
const two = (value) => String(value).padStart(2, "0");

/** A time of a plan: where the instance has a clock, minutes after what that names (00:00, or a date and time). */
export function moment(value, clock) {
  if (!Number.isFinite(value)) return "–";
  if (!clock) return number(Math.round(value * 10) / 10 + 0);
  const minutes = Math.round(value);
  if (clock === "00:00") {
    const day = Math.floor(minutes / 1440);
    const rest = minutes - 1440 * day;
    return `${day ? `day ${day + 1}, ` : ""}${two(Math.floor(rest / 60))}:${two(rest % 60)}`;
  }
  const date = new Date(Date.parse(`${clock.replace(" ", "T")}Z`) + 60000 * minutes);
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${two(date.getUTCHours())}:${two(date.getUTCMinutes())}`;
}

/** An amount of goods: a number, or one for each dimension. */
export const amount = (value) =>
  Array.isArray(value) ? (value.length ? value.map(number).join(" / ") : "–") : number(value);

export const plural = (count, word) => `${whole.format(count)} ${word}${count === 1 ? "" : "s"}`;

/** A value of unknown kind, in one line. */
export function plainly(value) {
  if (typeof value === "number") return Math.abs(value) >= 1000 ? whole.format(value) : brief(value);
  if (value === null || value === undefined) return "–";
  if (Array.isArray(value)) return value.map(plainly).join(", ");
  if (typeof value === "object") return Object.entries(value).map(([key, each]) => `${key} ${plainly(each)}`).join(", ");
  return String(value);
}

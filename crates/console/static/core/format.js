// Numbers, sizes and times for people.
const number = new Intl.NumberFormat("en");
const dateTime = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

export const count = (value) => number.format(value ?? 0);
export const plural = (value, one, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`;
export const cents = (value) => `${((value ?? 0) / 100).toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
export const percent = (value) => `${((value ?? 0) * 100).toLocaleString("en", { maximumFractionDigits: 1 })} %`;

export function bytes(value) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  let rest = value ?? 0;
  while (Math.round(rest) >= 1000 && unit < units.length - 1) {
    rest /= 1000;
    unit += 1;
  }
  return `${rest.toLocaleString("en", { maximumFractionDigits: rest < 10 && unit > 0 ? 1 : 0 })} ${units[unit]}`;
}

export function duration(ms) {
  if (ms === undefined || ms === null) return "";
  if (ms === 0) return "0 ms";
  // Rounded before the unit is chosen: 59.96 s are a minute.
  const tenths = Math.round(ms * 10) / 10;
  if (tenths < 10) return `${tenths.toFixed(1)} ms`;
  if (Math.round(ms) < 1000) return `${Math.round(ms)} ms`;
  const seconds = Math.round(ms / 100) / 10;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(ms / 1000);
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

export function time(text) {
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? String(text ?? "") : dateTime.format(date);
}

const STEPS = [["year", 31536000], ["month", 2592000], ["day", 86400], ["hour", 3600], ["minute", 60]];

export function ago(text) {
  const seconds = (new Date(text).getTime() - Date.now()) / 1000;
  if (Number.isNaN(seconds)) return "";
  const step = STEPS.find(([, size]) => Math.abs(seconds) >= size);
  return step ? relative.format(Math.trunc(seconds / step[1]), step[0]) : "just now";
}

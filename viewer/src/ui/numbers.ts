// Numbers as people read them, and sliders that reach over many orders of magnitude.
import type { Parameter } from "../data/protocol.ts";

/** A few digits: 0.0123, 12.3, 1.23e+7 as 1.23e7. */
export function plain(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) {
    const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
    return `${trimZeros(mantissa!)}e${Number(exponent)}`;
  }
  return trimZeros(value.toPrecision(Math.max(digits, Math.floor(Math.log10(size)) + 1)));
}

function trimZeros(text: string): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

const PREFIXES: [number, string][] = [
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
  [1, ""],
  [1e-3, "m"],
  [1e-6, "µ"],
];

/** With a unit, and a prefix where the unit takes one: 400 kPa, 12 mm, 1.2 m/s. */
export function withUnit(value: number, unit: string, digits = 3): string {
  const shown = unitText(unit);
  if (!Number.isFinite(value)) return "–";
  if (!["Pa", "N", "J", "m", "s"].includes(unit) || value === 0) return shown ? `${plain(value, digits)} ${shown}` : plain(value, digits);
  const [scale, prefix] = PREFIXES.find(([size]) => Math.abs(value) >= size * 0.9995) ?? PREFIXES[PREFIXES.length - 1]!;
  return `${plain(value / scale, digits)} ${prefix}${shown}`;
}

/** m/s^2 as m/s². */
export function unitText(unit: string): string {
  return unit.replace(/\^2/g, "²").replace(/\^3/g, "³").replace(/\^-1/g, "⁻¹");
}

/** How the way along a slider, 0 to 1, and a value belong together. */
export interface Scale {
  toValue(way: number): number;
  toWay(value: number): number;
}

const clamp01 = (way: number) => Math.min(1, Math.max(0, way));

export function linearScale(low: number, high: number, step = 0): Scale {
  const round = (value: number) => (step > 0 ? Math.round(value / step) * step : value);
  return {
    toValue: (way) => Number(round(low + way * (high - low)).toPrecision(6)),
    toWay: (value) => clamp01((value - low) / (high - low)),
  };
}

/** Equal ways are equal ratios. With `zero`, the very start of the slider is 0. */
export function ratioScale(low: number, high: number, options: { zero?: boolean; whole?: boolean } = {}): Scale {
  const start = options.zero ? 0.04 : 0;
  const ratio = Math.log(high / low);
  return {
    toValue: (way) => {
      if (options.zero && way < start / 2) return 0;
      const value = low * Math.exp((ratio * Math.max(0, way - start)) / (1 - start));
      return options.whole ? Math.round(value) : Number(value.toPrecision(3));
    },
    toWay: (value) => (value <= 0 ? 0 : clamp01(start + ((1 - start) * Math.log(value / low)) / ratio)),
  };
}

/** A slider for a parameter of a solver, around its default and within what it allows. */
export function parameterScale(parameter: Parameter): Scale {
  const least = parameter.least ?? -Infinity;
  const greatest = parameter.greatest ?? Infinity;
  const standard = Number(parameter.default) || 0;
  const whole = parameter.kind === "integer";
  if (!whole && least >= -1 && greatest <= 2 && greatest - least <= 3 && (least < 0 || standard >= 0.05 || standard === 0)) {
    return linearScale(Math.max(least, -1), greatest, 0.01);
  }
  if (whole) {
    const high = Math.min(greatest, Math.max(20, 10 * standard));
    if (least >= 1) return ratioScale(least, Math.max(high, least + 1), { whole });
    return high <= 60 ? linearScale(Math.max(0, least), high, 1) : ratioScale(1, high, { zero: true, whole });
  }
  const centre = standard > 0 ? standard : 0.1;
  const low = Math.max(least > 0 ? least : 0, centre * 1e-4) || centre * 1e-4;
  const high = Math.min(greatest, centre * 1e4);
  return ratioScale(low, Math.max(high, low * 10), { zero: least <= 0 });
}

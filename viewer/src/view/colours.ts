// Colour maps, as a few control points each, and how a field's values are laid on them.

export type Rgb = readonly [number, number, number];

// Perceptually ordered, readable with colour blindness and in print; the control points follow viridis, magma and a blue-red
// diverging map.
const MAPS = {
  sequential: ["#31255c", "#3b528b", "#2c728e", "#21918c", "#3fbc73", "#a8db34", "#fde725"],
  heat: ["#1d1147", "#51127c", "#8b2a81", "#c73d73", "#f1605d", "#fd9f6c", "#fbf5b8"],
  diverging: ["#2c5aa0", "#5c8fc9", "#a9c6e3", "#ece9e2", "#efb08f", "#d86a50", "#a3242f"],
  mark: ["#8d99a6", "#8d99a6", "#8d99a6", "#e8833a", "#e8833a", "#e8833a"],
} as const;
export type MapName = keyof typeof MAPS;

/** 256 colours, as bytes red, green, blue, alpha. */
export function colourTable(name: MapName): Uint8Array {
  const stops = MAPS[name].map(parseHex);
  const table = new Uint8Array(256 * 4);
  for (let i = 0; i < 256; ++i) {
    const at = (i / 255) * (stops.length - 1);
    const low = Math.min(stops.length - 2, Math.floor(at));
    for (let k = 0; k < 3; ++k) {
      table[4 * i + k] = Math.round(stops[low]![k]! + (stops[low + 1]![k]! - stops[low]![k]!) * (at - low));
    }
    table[4 * i + 3] = 255;
  }
  return table;
}

export function parseHex(hex: string): Rgb {
  const value = parseInt(hex.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

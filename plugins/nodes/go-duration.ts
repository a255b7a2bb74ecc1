const units: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, µs: 1e-3, μs: 1e-3, ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Milliseconds of a duration such as `1h15m30.5s`; undefined if the text is none. Upstream: Go's time.ParseDuration. */
export function parseGoDuration(text: string): number | undefined {
  const match = /^([+-]?)(0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/.exec(text);
  if (!match) return undefined;
  let total = 0;
  for (const [, number, unit] of (match[2] as string).matchAll(/(\d+\.?\d*|\.\d+)([a-zµμ]+)/g))
    total += Number(number) * (units[unit as string] as number);
  return match[1] === '-' ? -total : total;
}

/** OpenSSL names of the TLS key exchanges, by their protocol numbers. Upstream: Go's crypto/tls/common.go (CurveID). */
export const curves: ReadonlyMap<number, string> = new Map([
  [23, 'P-256'],
  [24, 'P-384'],
  [25, 'P-521'],
  [29, 'X25519'],
  [4587, 'SecP256r1MLKEM768'],
  [4588, 'X25519MLKEM768'],
  [4589, 'SecP384r1MLKEM1024'],
]);

/** Returns the problems with values of `--tls-curve-preferences`. Upstream: component-base/cli/flag/curvepreferences_flag.go. */
export function curveProblems(ids: readonly string[]): string[] {
  return ids.flatMap((text, at) => {
    const id = Number(text);
    if (!/^-?\d+$/.test(text)) return `invalid argument ${JSON.stringify(text)} for --tls-curve-preferences: must be a whole number`;
    if (id <= 0 || id > 65_535) return `curve preference ${id} is out of range (must be 1-65535)`;
    if (ids.indexOf(text) < at) return `duplicate curve preference ${id}`;
    return curves.has(id) ? [] : `curve preference ${id} is not supported by the TLS library`;
  });
}

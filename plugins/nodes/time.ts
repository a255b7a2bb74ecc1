/** Text of a metav1.Time: RFC 3339 with seconds, in UTC. */
export function timeText(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 19)}Z`;
}

/** Text of a metav1.MicroTime. */
export function microTimeText(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 23)}000Z`;
}

/** Milliseconds since the epoch; 0 for a missing or invalid text. */
export function timeOf(text: string | undefined): number {
  const value = Date.parse(text ?? '');
  return Number.isNaN(value) ? 0 : value;
}

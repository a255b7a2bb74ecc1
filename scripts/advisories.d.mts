export function judge(output: string): { readonly verdict: 'none' | 'found' | 'unreachable'; readonly lines: readonly string[] };

export interface Finding {
  readonly line: number;
  readonly reason: string;
}
export interface Link {
  readonly target: string;
  readonly line: number;
}
export function anchorsOf(text: string): Set<string>;
export function linksOf(text: string): Link[];
export function checkPage(file: string): Finding[];
export function checkMentions(text: string, base?: string): Finding[];

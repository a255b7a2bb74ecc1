export interface Finding {
  readonly line: number;
  readonly rule: string;
  readonly found: string;
  readonly better: string;
}
export interface Text {
  readonly kind: 'comment' | 'test name';
  readonly line: number;
  readonly text: string;
}
export function check(source: string): Finding[];
export function textsOf(source: string): Text[];

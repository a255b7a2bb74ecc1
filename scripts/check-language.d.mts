export interface Finding {
  readonly line: number;
  readonly rule: string;
  readonly found: string;
  readonly better: string;
}
export interface Text {
  readonly kind: 'comment' | 'test name' | 'message' | 'paragraph';
  readonly line: number;
  readonly text: string;
}
export function check(source: string): Finding[];
export function textsOf(source: string): Text[];
export function checkShell(script: string): Finding[];
export function checkMarkdown(markdown: string): Finding[];
export function paragraphsOf(markdown: string): Text[];

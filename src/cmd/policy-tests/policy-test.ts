import type { KubeObject } from '#apimachinery/meta/types';
import type { JsonPatchOperation } from '#apimachinery/patch/create-patch';
import type { PlayedUser } from '#cmd/explain/play-request';
import type { Verdict } from '#cmd/explain/verdict';

export const apiVersion = 'kubenest.dev/v1alpha1';
export const kind = 'PolicyTest';

/** Operations of admission. */
export const operations = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] as const;

/** A document of kind PolicyTest with its references resolved. */
export interface PolicyTestFile {
  readonly file: string;
  /** `metadata.name`, or the file's name. */
  readonly name: string;
  /** Path of the ServerConfiguration; undefined: that of the command, or none. */
  readonly config: string | undefined;
  /** A `plugins` list, instead of a ServerConfiguration. */
  readonly plugins: unknown;
  /** Objects that exist in all tests. */
  readonly existing: readonly KubeObject[];
  readonly tests: readonly PolicyTest[];
}

/** A request and its expected outcome. */
export interface PolicyTest {
  readonly name: string;
  readonly line: number;
  readonly operation: (typeof operations)[number];
  /** The object of the request; of DELETE, the deleted object. */
  readonly object: KubeObject;
  /** The object that the request updates or deletes; undefined: it is one of the existing objects. */
  readonly oldObject: KubeObject | undefined;
  readonly resource: string | undefined;
  readonly subresource: string | undefined;
  readonly dryRun: boolean;
  /** Undefined: an administrator. */
  readonly user: PlayedUser | undefined;
  /** Time in milliseconds since 1970; undefined: the system's. */
  readonly clock: number | undefined;
  /** Objects that exist in this test only. */
  readonly existing: readonly KubeObject[];
  readonly expected: ExpectedOutcome;
}

/** The expected outcome; undefined members are not checked. */
export interface ExpectedOutcome {
  readonly verdict: Verdict;
  /** Plugin, policy or webhook that denies or fails. */
  readonly by: string | undefined;
  readonly code: number | undefined;
  readonly message: TextPattern | undefined;
  readonly warnings: readonly TextPattern[] | undefined;
  /** Changes by the name of the admission plugin that makes them. */
  readonly patch: ReadonlyMap<string, readonly JsonPatchOperation[]> | undefined;
  /** Members of the resulting object. */
  readonly object: object | undefined;
}

/** A text that another one must contain or, written between slashes, a regular expression that it must match. */
export interface TextPattern {
  readonly source: string;
  matches(text: string): boolean;
}

/** Throws a SyntaxError for an invalid regular expression. */
export function textPattern(source: string): TextPattern {
  const [, expression] = /^\/(.*)\/$/s.exec(source) ?? [];
  if (expression === undefined) return { source, matches: (text) => text.includes(source) };
  const pattern = new RegExp(expression);
  return { source, matches: (text) => pattern.test(text) };
}

/** All problems of test files, one line each: `file:line: path: problem`. */
export class PolicyTestError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'PolicyTestError';
  }
}

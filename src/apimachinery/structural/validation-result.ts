import { type FieldError, invalid, notSupportedText, Path, required, tooLong, tooMany, typeInvalid } from '../validation/field.ts';

/** One thing that a value does wrong, with the message by which equal ones are told. */
interface Finding {
  readonly message: string;
  /** Makes the field error; `at` is the place of the validated value, undefined at the root. */
  toFieldError(at: Path | undefined): FieldError;
}

const placeOf = (at: Path | undefined, path: string): Path | undefined => {
  const name = path.startsWith('.') ? path.slice(1) : path;
  if (name === '') return at;
  return at ? at.child(name) : new Path(name);
};

/**
 * What validation against a schema found, each message once, and how much of the schema matched: of alternatives that all
 * fail, the one that matches most is told. Upstream: kube-openapi/pkg/validation/validate/result.go.
 */
export class ValidationResult {
  readonly #findings: Finding[] = [];
  readonly #messages = new Set<string>();
  matchCount = 0;

  get isValid(): boolean {
    return this.#findings.length === 0;
  }

  /** Where the findings end now, for `dropSince`. */
  get mark(): number {
    return this.#findings.length;
  }

  /** Forgets what was found after a mark. */
  dropSince(mark: number): void {
    for (const { message } of this.#findings.splice(mark)) this.#messages.delete(message);
  }

  merge(other: ValidationResult): void {
    for (const finding of other.#findings) this.#add(finding);
    this.matchCount += other.matchCount;
  }

  toFieldErrors(at: Path | undefined): FieldError[] {
    return this.#findings.map((finding) => finding.toFieldError(at));
  }

  /** A finding without a place of its own. */
  add(message: string): void {
    this.#add({ message, toFieldError: (at) => invalid(at, '', message) });
  }

  invalid(path: string, message: string, value: unknown): void {
    this.#add({ message, toFieldError: (at) => invalid(placeOf(at, path), value ?? '', message) });
  }

  /** `found`: the value's type, or of a text with a wrong format the text. */
  wrongType(path: string, expected: string, found: string): void {
    const message = `${path} in body must be of type ${expected}: ${JSON.stringify(found)}`;
    this.#add({ message, toFieldError: (at) => typeInvalid(placeOf(at, path), found, message) });
  }

  required(path: string): void {
    this.#add({ message: `${path} in body is required`, toFieldError: (at) => required(placeOf(at, path)) });
  }

  notSupported(path: string, value: unknown, allowed: readonly string[]): void {
    const message = `${path} in body should be one of [${allowed.join(' ')}]`;
    this.#add({ message, toFieldError: (at) => notSupportedText(placeOf(at, path), value, allowed) });
  }

  tooLong(path: string, max: number): void {
    const message = `${path} in body should be at most ${max} chars long`;
    this.#add({ message, toFieldError: (at) => tooLong(placeOf(at, path), '', max) });
  }

  tooMany(path: string, what: 'items' | 'properties', actual: number, max: number): void {
    const message = `${path} in body should have at most ${max} ${what}`;
    this.#add({ message, toFieldError: (at) => tooMany(placeOf(at, path), actual, max) });
  }

  #add(finding: Finding): void {
    if (this.#messages.has(finding.message)) return;
    this.#messages.add(finding.message);
    this.#findings.push(finding);
  }
}

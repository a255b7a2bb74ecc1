import { type FieldError, invalid, notSupportedText, Path, required, tooLong, tooMany, typeInvalid } from '../validation/field.ts';

/** One error of a value, identified by its message. */
interface Finding {
  readonly message: string;
  /** Creates the field error; `at` is the path of the validated value, undefined at the root. */
  toFieldError(at: Path | undefined): FieldError;
}

const placeOf = (at: Path | undefined, path: string): Path | undefined => {
  const name = path.startsWith('.') ? path.slice(1) : path;
  if (name === '') return at;
  return at ? at.child(name) : new Path(name);
};

/**
 * Errors of a validation against a schema, without duplicate messages, and the number of matches: of alternatives that all fail, the one
 * with the most matches is reported. Upstream: kube-openapi/pkg/validation/validate/result.go.
 */
export class ValidationResult {
  readonly #findings: Finding[] = [];
  readonly #messages = new Set<string>();
  matchCount = 0;

  get isValid(): boolean {
    return this.#findings.length === 0;
  }

  /** Current number of findings, for `dropSince`. */
  get mark(): number {
    return this.#findings.length;
  }

  /** Removes findings after a mark. */
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

  /** Adds a finding without its own path. */
  add(message: string): void {
    this.#add({ message, toFieldError: (at) => invalid(at, '', message) });
  }

  invalid(path: string, message: string, value: unknown): void {
    this.#add({ message, toFieldError: (at) => invalid(placeOf(at, path), value ?? '', message) });
  }

  /** `found` is the value's type, or the text of a string with a wrong format. */
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

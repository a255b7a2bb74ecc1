/** Collects the paths of undeclared fields in upstream's form: `spec.list[0].b`. */
export class UnknownFields {
  readonly paths: string[] = [];
  readonly #at: (string | number)[] = [];

  get atRoot(): boolean {
    return this.#at.length === 0;
  }

  enter(step: string | number): void {
    this.#at.push(step);
  }

  leave(): void {
    this.#at.pop();
  }

  record(name: string): void {
    let path = '';
    for (const step of [...this.#at, name]) path += typeof step === 'number' ? `[${step}]` : `${path && '.'}${step}`;
    this.paths.push(path);
  }
}

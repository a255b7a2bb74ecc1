/** The package has no types of its own. */
declare module 'passport-http' {
  type Done = (error: unknown, user?: unknown) => void;
  export class BasicStrategy {
    constructor(verify: (name: string, password: string, done: Done) => void);
    authenticate(request: never): void;
  }
}

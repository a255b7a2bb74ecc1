/** Types of the part that the server uses; the package has none of its own. */
declare module 'passport' {
  /** Response to which passport writes only a redirect, if `authenticate` has a callback. */
  export interface RedirectResponse {
    statusCode: number;
    setHeader(name: string, value: string): void;
    end(): void;
  }

  /** Receives an error, or the user and undefined, or false and the challenge of the strategy. */
  type Outcome = (error: unknown, user?: unknown, info?: unknown) => void;

  export class Passport {
    use(name: string, strategy: object): this;
    /** Returns a middleware that runs one strategy; it calls `next` if the strategy passes. */
    authenticate(
      name: string,
      options: { readonly session: boolean },
      outcome: Outcome,
    ): (request: object, response: RedirectResponse, next: (error?: unknown) => void) => void;
  }

  const passport: { readonly Passport: typeof Passport };
  export default passport;
}

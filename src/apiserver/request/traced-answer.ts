import { type RequestTrace, rounded, type TraceStage } from './request-trace.ts';

/** Verdict of one step in a trace. */
export interface Verdict {
  readonly verdict: string;
  readonly reason?: string;
}

/**
 * Calls an authenticator or authorizer and adds its result to a trace as a step with its duration. `failure` is the verdict of a
 * step that throws.
 */
export function traced<T>(
  trace: RequestTrace,
  stage: TraceStage,
  name: string,
  ask: () => T | Promise<T>,
  verdictOf: (answer: T) => Verdict,
  failure: string,
): T | Promise<T> {
  const began = performance.now();
  const add = (verdict: Verdict): void => trace.add({ stage, name, milliseconds: rounded(performance.now() - began), ...verdict });
  const answered = (answer: T): T => {
    add(verdictOf(answer));
    return answer;
  };
  const failed = (error: unknown): never => {
    add({ verdict: failure, reason: (error as Error).message });
    throw error;
  };
  try {
    const answer = ask();
    return answer instanceof Promise ? answer.then(answered, failed) : answered(answer);
  } catch (error) {
    return failed(error);
  }
}

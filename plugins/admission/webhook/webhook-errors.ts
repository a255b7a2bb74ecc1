import { newBadRequest, type Status, StatusError } from 'kubenest/sdk';

/** A webhook that could not be asked, or whose answer is none; its failurePolicy decides. Upstream: apiserver/pkg/util/webhook/error.go. */
export class CallError extends Error {
  constructor(
    readonly webhook: string,
    reason: string,
    /** What the metrics tell as the code. */
    readonly code: number,
  ) {
    super(`failed calling webhook ${JSON.stringify(webhook)}: ${reason}`);
  }
}

/** A webhook that said no. */
export class Rejection extends Error {
  constructor(readonly status: StatusError) {
    super(status.message);
  }
}

/** The Status of a denial, with what the webhook said. Upstream: plugin/webhook/errors/statuserror.go. */
export function denialOf(webhook: string, result: Partial<Status> | undefined): StatusError {
  const deniedBy = `admission webhook ${JSON.stringify(webhook)} denied the request`;
  const code = result?.code !== undefined && result.code >= 400 ? result.code : 400;
  const explanation = result?.message || result?.reason;
  return new StatusError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    ...result,
    status: 'Failure',
    message: explanation ? `${deniedBy}: ${explanation}` : `${deniedBy} without explanation`,
    code,
  } as Status);
}

export function dryRunUnsupported(webhook: string): StatusError {
  return newBadRequest(`admission webhook ${JSON.stringify(webhook)} does not support dry run`);
}

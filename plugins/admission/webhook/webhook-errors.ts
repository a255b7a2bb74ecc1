import { newBadRequest, type Status, StatusError } from 'kubenest/sdk';

/**
 * A failed call of a webhook or an invalid response, to which the failurePolicy applies. Upstream:
 * apiserver/pkg/util/webhook/error.go.
 */
export class CallError extends Error {
  constructor(
    readonly webhook: string,
    reason: string,
    /** Value of the code label in metrics. */
    readonly code: number,
  ) {
    super(`failed calling webhook ${JSON.stringify(webhook)}: ${reason}`);
  }
}

/** A denial by a webhook. */
export class Rejection extends Error {
  constructor(readonly status: StatusError) {
    super(status.message);
  }
}

/** Returns the Status of a denial with the webhook's explanation. Upstream: plugin/webhook/errors/statuserror.go. */
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

import { groupResourceString, newBadRequest, newInternalError, statusOf } from '#apimachinery/api/errors';
import type { GroupVersionKind, KubeObject } from '#apimachinery/meta/types';
import { deepCopySteps } from '#apimachinery/runtime/copy';
import { DecodeError, parseEncodedText, parseJsonSteps } from '#apimachinery/runtime/json/json';
import type { Pace } from '#apimachinery/runtime/pace';
import type { Steps } from '#apimachinery/runtime/steps';
import type { AdmissionSteps } from '#apiserver/admission/admission-chain';
import { type ChunkedForms, ConversionError } from '#apiserver/admission/object-forms';
import { RequestAdmission } from '#apiserver/admission/request-admission';
import { TracedAdmission } from '#apiserver/admission/traced-admission';
import { RequestContext } from '#apiserver/request/request-context';
import { nonResource } from '#apiserver/request/request-info';
import type { TraceNote } from '#apiserver/request/request-trace';
import type { ReviewRequest, Verdict } from './admission-review.ts';
import { reviewPatch } from './review-patch.ts';
import type { ReviewTargets } from './review-targets.ts';

export type ReviewPhase = 'mutate' | 'validate';

/** A review to be answered. */
export interface ReviewCall {
  readonly phase: ReviewPhase;
  readonly request: ReviewRequest;
  readonly chain: AdmissionSteps;
  /** Pace of work on the objects. */
  readonly pace: Pace;
}

/** Reviews requests of a cluster by the admission chain. */
export class Reviewer {
  constructor(private readonly targets: ReviewTargets) {}

  /**
   * Returns the verdict of the chain's phase. Rejects with BadRequest for objects that cannot be decoded. `caller`: the review's own
   * request.
   */
  async review({ phase, request, chain, pace }: ReviewCall, caller: RequestContext): Promise<Verdict> {
    const { requestKind: kind, requestResource: resource, subresource } = request;
    const target = this.targets.of({ kind, resource, subresource });
    const { forms } = target;
    // The patch applies to the document, which the decoder would change.
    const sent = phase === 'mutate' && request.object ? await pace.run(deepCopySteps(request.object)) : undefined;
    const object = await decoded(forms, request, 'object', pace);
    await pace.rest();
    const oldObject = await decoded(forms, request, 'oldObject', pace);
    await pace.rest();
    const context = contextOf(caller, request);
    const { trace } = context;
    if (trace) {
      // Traces of secrets must not show their contents.
      caller.info = context.info;
      trace.note(noteOf(request));
    }
    const admission = new RequestAdmission(trace ? new TracedAdmission(chain, trace) : chain, context, target);
    const { operation, namespace, name, options, dryRun } = request;
    const call = { operation, namespace, name, object, oldObject, options, dryRun, pace };
    const inRequest = (value: KubeObject): unknown =>
      pace.either(
        () => parseEncodedText(forms.encode(value, request.kind)),
        () => parsedAgain(forms, value, request.kind),
      );
    const before = sent && (await inRequest(object as KubeObject));
    const { auditAnnotations: annotations } = context;
    try {
      await (phase === 'mutate' ? admission.admit(call) : admission.validate(call));
    } catch (error) {
      const status = statusOf(error) ?? newInternalError(error as Error).status;
      trace?.failed(status.message ?? '');
      return { status, warnings: context.warnings, annotations };
    }
    await pace.rest();
    const patch = sent && (await pace.run(reviewPatch(sent, before, await inRequest(object as KubeObject))));
    return { patch, warnings: context.warnings, annotations };
  }
}

function* parsedAgain(forms: ChunkedForms, object: KubeObject, kind: GroupVersionKind): Steps<unknown> {
  return (yield* parseJsonSteps(yield* forms.encodeSteps(object, kind))).value;
}

/** Decodes a document to the form of the admission. The document must not be used afterwards. */
async function decoded(
  forms: ChunkedForms,
  { kind, ...request }: ReviewRequest,
  member: 'object' | 'oldObject',
  pace: Pace,
): Promise<KubeObject | undefined> {
  const document = request[member];
  if (!document) return undefined;
  try {
    const object = await pace.either(
      () => forms.decode(document, kind),
      () => forms.decodeSteps(document, kind),
    );
    await pace.rest();
    return forms.complete(object, kind);
  } catch (error) {
    if (error instanceof DecodeError || error instanceof ConversionError) throw newBadRequest(`request.${member}: ${error.message}`);
    throw error;
  }
}

/** Returns the note by which a trace names the reviewed request. */
function noteOf({ uid, operation, requestResource, subresource, namespace, name, user }: ReviewRequest): TraceNote {
  const resource = `${groupResourceString(requestResource)}${subresource && `/${subresource}`}`;
  const place = `${namespace && `${namespace}/`}${name}`;
  return { kind: 'review', name: uid, verdict: operation, reason: `${resource} ${place} by ${user.name}` };
}

/** Returns the context of the reviewed request, which shares the deadline, the trace and the span of the review's own request. */
function contextOf(caller: RequestContext, { user, operation, requestResource, namespace, name }: ReviewRequest): RequestContext {
  const { group, version, resource } = requestResource;
  const info = { ...nonResource(caller.path, caller.method), apiGroup: group, apiVersion: version, resource, namespace, name };
  const context = new RequestContext(caller.exchange, caller.path, caller.query, { ...info, verb: operation.toLowerCase() });
  context.user = user;
  context.auditId = caller.auditId;
  context.deadline = caller.deadline;
  context.trace = caller.trace;
  context.span = caller.span;
  context.auditAnnotations = new Map();
  return context;
}

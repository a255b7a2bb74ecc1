import { type CallHandler, type ExecutionContext, Inject, Injectable, type NestInterceptor } from '@nestjs/common';
import { from, mergeMap, type Observable } from 'rxjs';
import { newBadRequest } from '#apimachinery/api/errors';
import type { KubeObject } from '#apimachinery/meta/types';
import { isJsonObject } from '#apimachinery/patch/own-property';
import { ensureNameMatches } from '#apiserver/registry/name-scope';
import { ensureNamespaceMatches } from '#apiserver/registry/namespace-scope';
import { requestContextOf } from '#apiserver/request/execution-context';
import { type PlacedWrite, writeOf } from '#apiserver/request/on-resource';
import type { OpeningInterceptor } from '#apiserver/request/opening-interceptor';
import type { RequestContext } from '#apiserver/request/request-context';
import { AdmissionChain } from './admission-chain.ts';
import { TracedAdmission } from './traced-admission.ts';
import { type AdmittedEndpoint, EndpointLookup } from './endpoint-lookup.ts';
import { RequestAdmission } from './request-admission.ts';

/**
 * Admission of write requests. For verbs of endpoints it only opens the admission, which the verb calls at upstream's two points. On a
 * method of a Nest controller that `@OnResource` marks, it admits the body before the method runs; the body must be an object of the
 * namespace and the name in the route, which the AuthorizationGuard authorizes. The method receives the body as mutating plugins changed
 * it.
 */
@Injectable()
export class AdmissionInterceptor implements NestInterceptor, OpeningInterceptor<Pick<AdmittedEndpoint, 'admission'>> {
  constructor(
    @Inject(AdmissionChain) private readonly chain: AdmissionChain,
    @Inject(EndpointLookup) private readonly lookup: EndpointLookup,
  ) {}

  open(context: RequestContext, { admission }: Pick<AdmittedEndpoint, 'admission'>): RequestAdmission {
    const { trace } = context;
    const { current } = this.chain;
    const opened = new RequestAdmission(trace ? new TracedAdmission(current, trace) : current, context, admission);
    context.admission = opened;
    return opened;
  }

  /** Throws for a method without `@OnResource`. */
  intercept(execution: ExecutionContext, next: CallHandler): Observable<unknown> {
    const write = writeOf(execution);
    if (!write)
      throw new Error(`${execution.getClass().name}.${execution.getHandler().name} has the AdmissionInterceptor without @OnResource`);
    return from(this.#admitBody(execution, write)).pipe(mergeMap(() => next.handle()));
  }

  /** Rejects with BadRequest for a body that is not such an object, and with the Status of a denial. */
  async #admitBody(execution: ExecutionContext, { operation, namespace, name, ...resource }: PlacedWrite): Promise<void> {
    const endpoint = this.lookup(resource);
    const object = objectOf(execution);
    ensureNamespaceMatches(endpoint.definition, namespace, object);
    if (name !== '') ensureNameMatches(name, object);
    const oldObject = operation === 'UPDATE' ? (await endpoint.store.get(namespace, name, '')).object : undefined;
    const admission = this.open(requestContextOf(execution), endpoint);
    const call = { operation, namespace, name: object.metadata.name ?? '', object, oldObject, options: {}, dryRun: false };
    await admission.admit(call);
    await admission.validate(call);
  }
}

/** Returns the body of a request. Throws BadRequest if it has no metadata, so that plugins get an object. */
function objectOf(execution: ExecutionContext): KubeObject {
  const { body } = execution.switchToHttp().getRequest<{ readonly body?: unknown }>();
  if (!isJsonObject(body) || !isJsonObject(body['metadata'])) throw newBadRequest('the body must be an object with metadata');
  return body as unknown as KubeObject;
}

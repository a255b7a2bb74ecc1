import { type CallHandler, type ExecutionContext, Inject, Injectable, type NestInterceptor } from '@nestjs/common';
import { from, mergeMap, type Observable } from 'rxjs';
import type { KubeObject } from '#apimachinery/meta/types';
import { requestContextOf } from '#apiserver/request/execution-context';
import { type PlacedWrite, writeOf } from '#apiserver/request/on-resource';
import type { OpeningInterceptor } from '#apiserver/request/opening-interceptor';
import type { RequestContext } from '#apiserver/request/request-context';
import { AdmissionChain } from './admission-chain.ts';
import { TracedAdmission } from './traced-admission.ts';
import { type AdmittedEndpoint, EndpointLookup } from './endpoint-lookup.ts';
import { RequestAdmission } from './request-admission.ts';

/** Opens the admission of a writing request; the verb calls it at its two points. */
@Injectable()
export class AdmissionInterceptor implements NestInterceptor, OpeningInterceptor<Pick<AdmittedEndpoint, 'admission'>> {
  constructor(
    @Inject(AdmissionChain) private readonly chain: AdmissionChain,
    @Inject(EndpointLookup) private readonly lookup: EndpointLookup,
  ) {}

  open(context: RequestContext, { admission }: Pick<AdmittedEndpoint, 'admission'>): RequestAdmission {
    const { trace } = context;
    const opened = new RequestAdmission(trace ? new TracedAdmission(this.chain, trace) : this.chain, context, admission);
    context.admission = opened;
    return opened;
  }

  /** Throws for a method that is not marked. */
  intercept(execution: ExecutionContext, next: CallHandler): Observable<unknown> {
    const write = writeOf(execution);
    if (!write)
      throw new Error(`${execution.getClass().name}.${execution.getHandler().name} has the AdmissionInterceptor without @OnResource`);
    return from(this.#admitBody(execution, write)).pipe(mergeMap(() => next.handle()));
  }

  async #admitBody(execution: ExecutionContext, { operation, namespace, name, ...resource }: PlacedWrite): Promise<void> {
    const request = execution.switchToHttp().getRequest<{ readonly body: KubeObject }>();
    const endpoint = this.lookup(resource);
    const { body: object } = request;
    const oldObject = operation === 'UPDATE' ? (await endpoint.store.get(namespace, name, '')).object : undefined;
    const admission = this.open(requestContextOf(execution), endpoint);
    const call = { operation, namespace, name: name || (object.metadata.name ?? ''), object, oldObject, options: {}, dryRun: false };
    await admission.admit(call);
    await admission.validate(call);
  }
}

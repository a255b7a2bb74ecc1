import { type CallHandler, type ExecutionContext, Inject, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Observable } from 'rxjs';
import type { OpeningInterceptor } from '#apiserver/request/opening-interceptor';
import type { RequestContext } from '#apiserver/request/request-context';
import { AdmissionChain } from './admission-chain.ts';
import { TracedAdmission } from './traced-admission.ts';
import { type AdmissionTarget, RequestAdmission } from './request-admission.ts';

/** The part of an endpoint that the interceptor uses. */
interface AdmittedEndpoint {
  readonly admission: AdmissionTarget;
}

/** Opens the admission of a writing request; the verb calls it at its two points. */
@Injectable()
export class AdmissionInterceptor implements NestInterceptor, OpeningInterceptor<AdmittedEndpoint> {
  constructor(@Inject(AdmissionChain) private readonly chain: AdmissionChain) {}

  open(context: RequestContext, endpoint: AdmittedEndpoint): void {
    const { trace } = context;
    context.admission = new RequestAdmission(trace ? new TracedAdmission(this.chain, trace) : this.chain, context, endpoint.admission);
  }

  intercept(execution: ExecutionContext, next: CallHandler): Observable<unknown> {
    this.open(...execution.getArgs<[RequestContext, AdmittedEndpoint]>());
    return next.handle();
  }
}

import { type CallHandler, type ExecutionContext, Inject, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Observable } from 'rxjs';
import type { ResourceEndpoint } from '#apiserver/endpoints/handlers/resource-endpoint';
import type { RequestContext } from '#apiserver/endpoints/request/request-context';
import { AdmissionChain } from './admission-chain.ts';
import { RequestAdmission } from './request-admission.ts';

/** Opens the admission of a writing request; the verb calls it at its two points. */
@Injectable()
export class AdmissionInterceptor implements NestInterceptor {
  constructor(@Inject(AdmissionChain) private readonly chain: AdmissionChain) {}

  intercept(execution: ExecutionContext, next: CallHandler): Observable<unknown> {
    const [context, endpoint] = execution.getArgs<[RequestContext, ResourceEndpoint]>();
    context.admission = new RequestAdmission(this.chain, context, endpoint.admission);
    return next.handle();
  }
}

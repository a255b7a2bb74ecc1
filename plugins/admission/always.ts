import { AdmissionPlugin, type Attributes, forbidden } from 'kubenest/sdk';

const everything = { groups: ['*'], resources: ['*'], subresources: ['*'], operations: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] } as const;

/** Admits all requests and logs a warning at start. Upstream: kubernetes/plugin/pkg/admission/admit/admission.go. */
@AdmissionPlugin({ name: 'AlwaysAdmit', match: [everything] })
export class AlwaysAdmit {
  validate(): void {}
}

/** Denies all requests. Upstream: kubernetes/plugin/pkg/admission/deny/admission.go. */
@AdmissionPlugin({ name: 'AlwaysDeny', match: [everything] })
export class AlwaysDeny {
  admit(request: Attributes): void {
    throw forbidden(request, 'admission control is denying all modifications');
  }

  validate(request: Attributes): void {
    throw forbidden(request, 'admission control is denying all modifications');
  }
}

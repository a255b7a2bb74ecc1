import { AdmissionPlugin, type Attributes, deny } from 'kubenest/sdk';

@AdmissionPlugin({
  name: 'Frozen',
  // mistake: the resource is deployments
  match: [{ groups: ['apps'], resources: ['deployment'], operations: ['CREATE'] }],
})
export class Frozen {
  validate(request: Attributes): void {
    deny(request, 'frozen');
  }
}

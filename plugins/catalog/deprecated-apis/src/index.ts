import { contribute } from 'kubenest/sdk';
import { DeprecatedApis } from './deprecated-apis.ts';

export default contribute(DeprecatedApis);

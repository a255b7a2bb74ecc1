import { contribute } from 'kubenest/sdk';
import { RequiredLabels } from './required-labels.ts';

export default contribute(RequiredLabels);

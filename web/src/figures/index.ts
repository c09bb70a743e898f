// All figures in the order in which a page shows them.

import type { Figure } from '../plot.ts';
import { powerBars, productBars } from './speed_bars.ts';

export const figures: Figure[] = [productBars, powerBars];

// All figures in the order in which a page shows them.

import type { Figure } from '../plot.ts';
import { densityOfStates, elementDegrees, hpcgParts } from './applications.ts';
import { bandwidthBars } from './bandwidth_bars.ts';
import { convergence } from './convergence.ts';
import { registerBlocks } from './heat_maps.ts';
import { iterationBars } from './iteration_bars.ts';
import { bandwidthCurve, blockingLimit, latencyFit, roofline } from './machine_curves.ts';
import { levelSizes, rowLengths, spyPlot, taskOrder } from './matrix_views.ts';
import {
  overBlockSize,
  overCache,
  overCoop,
  overPower,
  overRepeat,
  overSize,
  overSlice,
} from './over_parameters.ts';
import { breakEven, performanceProfile, tunedAgainstOptimal } from './profiles.ts';
import {
  machineAgainstMachine,
  overNonzeros,
  predictedOverMeasured,
  speedupScatter,
} from './scatter.ts';
import { overThreads } from './scaling.ts';
import { powerBars, productBars } from './speed_bars.ts';

export const figures: Figure[] = [
  productBars,
  speedupScatter,
  overNonzeros,
  performanceProfile,
  powerBars,
  overPower,
  overSize,
  machineAgainstMachine,
  convergence,
  iterationBars,
  elementDegrees,
  hpcgParts,
  densityOfStates,
  predictedOverMeasured,
  roofline,
  bandwidthBars,
  tunedAgainstOptimal,
  breakEven,
  overThreads,
  overSlice,
  overCache,
  registerBlocks,
  overCoop,
  overRepeat,
  overBlockSize,
  bandwidthCurve,
  latencyFit,
  blockingLimit,
  spyPlot,
  rowLengths,
  levelSizes,
  taskOrder,
];

/** The upstream on localhost: its API, its signed callbacks, its failures, and a control interface. */

export { networkId } from './phone-numbers.js'
export { defaultSettings, type Settings } from './settings.js'
export { escapeJson, signBody } from './signing.js'
export { type Simulator, type SimulatorOptions, startSimulator } from './simulator.js'

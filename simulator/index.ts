/** The upstream on localhost: its API, its signed callbacks, its failures, and a control interface. */

export { escapeJson, signBody } from './callbacks/signing.js'
export { networkId } from './numbers/phone-numbers.js'
export { defaultSettings, type Settings } from './settings.js'
export { type Simulator, type SimulatorOptions, startSimulator } from './simulator.js'

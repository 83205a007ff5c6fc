/** The upstream on localhost: its API, its signed callbacks, its failures, and a control to steer them (contract 6). */

export { type Inbound, inboundBody } from './inbound.js'
export { networkId } from './phones.js'
export { defaultSettings, type Settings } from './settings.js'
export { escapeJson, signBody } from './signing.js'
export { type Simulator, type SimulatorOptions, startSimulator } from './simulator.js'

import { expectQuietBeside } from './scenario.js'

expectQuietBeside(['slow-number', 'number-down'])

import { expectQuietBeside } from './scenario.js'

expectQuietBeside(['phone-history'])

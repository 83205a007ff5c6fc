import { useMediaQuery } from '@mantine/hooks'

/** Maximum width of a phone. */
export const PHONE = '(max-width: 47.99em)'

/** Whether the screen is as narrow as a phone's, correct from the first render. */
export const useIsPhone = (): boolean => useMediaQuery(PHONE, false, { getInitialValueInEffect: false })

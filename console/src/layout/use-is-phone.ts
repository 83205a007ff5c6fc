import { useMediaQuery } from '@mantine/hooks'

/** As wide as a phone. */
export const PHONE = '(max-width: 47.99em)'

/** Whether the screen is as narrow as a phone's, from the first drawing on. */
export const useIsPhone = (): boolean => useMediaQuery(PHONE, false, { getInitialValueInEffect: false })

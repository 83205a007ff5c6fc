import { Anchor, Stack, Text, ThemeIcon, Tooltip, UnstyledButton } from '@mantine/core'
import { useDisclosure, useSessionStorage } from '@mantine/hooks'
import {
  IconChartBar,
  IconFlask,
  IconMessages,
  IconSettings,
  IconSpeakerphone,
  IconTemplate,
} from '@tabler/icons-react'
import { Suspense } from 'react'
import { useTranslation } from 'react-i18next'
import { NavLink, Outlet, useLocation } from 'react-router'
import { useIsLive } from '../api/live.js'
import { lazyPart } from '../i18n/index.js'
import { LiveUpdatesProvider } from '../pages/inbox/list/live-updates-provider.js'
import { useMay, useSession } from '../session/session.js'
import { AccountMenu } from './account-menu.js'
import { useAlerts } from './alerts.js'
import { Loading } from './loading.js'
import { NumberBanner } from './number-banner.js'
import classes from './shell.module.css'
import { useIsPhone } from './use-is-phone.js'

const PasswordDialog = lazyPart(['session'], () => import('../session/password.js'))

/** Session storage key: the member has postponed choosing a password after signing in with a link. */
const LATER = 'parley.password-later'

const PLACES = [
  { to: '/inbox', name: 'inbox', icon: IconMessages, role: 'analyst' },
  { to: '/broadcasts', name: 'broadcasts', icon: IconSpeakerphone, role: 'analyst' },
  { to: '/templates', name: 'templates', icon: IconTemplate, role: 'agent' },
  { to: '/analytics', name: 'analytics', icon: IconChartBar, role: 'analyst' },
  { to: '/settings', name: 'settings', icon: IconSettings, role: 'owner' },
] as const

/** The frame of every page: navigation, account menu, and lines about what is wrong: live updates, the number. */
export function Shell() {
  const { t } = useTranslation()
  const isPhone = useIsPhone()
  const isLive = useIsLive()
  const { pathname } = useLocation()
  const { member, by_link, simulator } = useSession()
  useAlerts()
  const [isLater, setLater] = useSessionStorage({
    key: `${LATER}.${member.id}`,
    defaultValue: false,
    getInitialValueInEffect: false,
  })
  const [isPasswordOpen, password] = useDisclosure(by_link && !member.has_password && !isLater)
  const closePassword = () => {
    setLater(true)
    password.close()
  }
  // On a phone, a conversation fills the screen.
  const isFull = isPhone && /^\/inbox\/./.test(pathname)
  return (
    <div className={classes.shell}>
      <Anchor href="#content" className={classes.skip}>
        {t('skip')}
      </Anchor>
      {!isPhone && (
        <nav className={classes.side} aria-label={t('navigation')}>
          <Places />
          <Stack align="center" mt="auto" gap="sm">
            {simulator && <Sandbox />}
            <AccountMenu onPassword={password.open} />
          </Stack>
        </nav>
      )}
      <main id="content" tabIndex={-1} className={classes.main}>
        {!isLive && (
          <Text role="status" size="sm" ta="center" className={classes.offline}>
            {t('offline')}
          </Text>
        )}
        {!isFull && <NumberBanner />}
        <LiveUpdatesProvider>
          <Suspense fallback={<Loading />}>
            <Outlet />
          </Suspense>
        </LiveUpdatesProvider>
      </main>
      {isPhone && !isFull && (
        <nav className={classes.footer} aria-label={t('navigation')}>
          <Places />
          <AccountMenu onPassword={password.open} />
        </nav>
      )}
      {isPasswordOpen && (
        <Suspense>
          <PasswordDialog onClose={closePassword} />
        </Suspense>
      )}
    </div>
  )
}

function Places() {
  const { t } = useTranslation()
  const may = { analyst: true, agent: useMay('agent'), owner: useMay('owner') }
  return (
    <div className={classes.places}>
      {PLACES.filter(({ role }) => may[role]).map(({ to, name, icon: Icon }) => (
        <UnstyledButton key={to} component={NavLink} to={to} className={classes.place}>
          <Icon aria-hidden size={22} stroke={1.6} />
          {t(name)}
        </UnstyledButton>
      ))}
    </div>
  )
}

function Sandbox() {
  const { t } = useTranslation()
  return (
    <Tooltip label={t('sandboxHint')} multiline w={240} position="right">
      <ThemeIcon variant="light" color="orange" size="lg" role="img" aria-label={t('sandboxHint')} tabIndex={0}>
        <IconFlask size={20} stroke={1.6} aria-hidden />
      </ThemeIcon>
    </Tooltip>
  )
}

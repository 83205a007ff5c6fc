import {
  Avatar,
  type MantineColorScheme,
  Menu,
  Text,
  UnstyledButton,
  useMantineColorScheme,
  VisuallyHidden,
} from '@mantine/core'
import { IconKey, IconLanguage, IconLogout, IconMoon } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { ApiError, api } from '../api/client.js'
import { chooseLanguage, LANGUAGES, type Language } from '../i18n/index.js'
import { startOver, useSession } from '../session/session.js'
import { notifyError } from '../shared/problem.js'
import { AlertItems } from './alert-items.js'
import classes from './shell.module.css'

const SCHEMES = ['light', 'dark', 'auto'] as const

/** The account menu: appearance, language, password, sign out. */
export function AccountMenu({ onPassword }: { onPassword: () => void }) {
  const { t, i18n } = useTranslation()
  const { member, organization } = useSession()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const signOut = async () => {
    try {
      await api.delete('/session')
    } catch (error) {
      // A 401 means that the session has ended already. After any other error the session is still open.
      if (!(error instanceof ApiError) || error.status !== 401) return notifyError(error)
    }
    startOver()
  }
  return (
    <Menu position="right-end" width={260}>
      <Menu.Target>
        <UnstyledButton className={classes.account}>
          <Avatar name={member.full_name} color="initials" aria-hidden />
          <VisuallyHidden>{t('account', { name: member.full_name })}</VisuallyHidden>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="sm" fw={600} truncate>
            {member.full_name}
          </Text>
          <Text size="xs" truncate>
            {t(`roles.${member.role}`)} · {organization.name}
          </Text>
        </Menu.Label>
        <Menu.Sub>
          <Menu.Sub.Target>
            <Menu.Sub.Item leftSection={<IconMoon size={16} aria-hidden />}>{t('theme')}</Menu.Sub.Item>
          </Menu.Sub.Target>
          <Menu.Sub.Dropdown>
            <Menu.RadioGroup value={colorScheme} onChange={(scheme) => setColorScheme(scheme as MantineColorScheme)}>
              {SCHEMES.map((scheme) => (
                <Menu.RadioItem key={scheme} value={scheme}>
                  {t(`themes.${scheme}`)}
                </Menu.RadioItem>
              ))}
            </Menu.RadioGroup>
          </Menu.Sub.Dropdown>
        </Menu.Sub>
        <Menu.Sub>
          <Menu.Sub.Target>
            <Menu.Sub.Item leftSection={<IconLanguage size={16} aria-hidden />}>{t('language')}</Menu.Sub.Item>
          </Menu.Sub.Target>
          <Menu.Sub.Dropdown>
            <Menu.RadioGroup value={i18n.language} onChange={(language) => void chooseLanguage(language as Language)}>
              {Object.entries(LANGUAGES).map(([language, name]) => (
                <Menu.RadioItem key={language} value={language} lang={language}>
                  {name}
                </Menu.RadioItem>
              ))}
            </Menu.RadioGroup>
          </Menu.Sub.Dropdown>
        </Menu.Sub>
        <AlertItems />
        <Menu.Item leftSection={<IconKey size={16} aria-hidden />} onClick={onPassword}>
          {t('password')}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={() => void signOut()}>
          {t('signOut')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

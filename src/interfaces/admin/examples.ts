// biome-ignore-all format: recorded by test/interfaces/description/examples.test.ts; `npx vitest run -u` with it records again
import type { Examples } from '../../http/description/examples.js'

export const examples: Examples = {
 "organizations.create": [
  {
   "name": "example",
   "body": {
    "name": "Globex",
    "slug": "globex",
    "country": "BR"
   },
   "status": 201,
   "answer": {
    "success": true,
    "organization": {
     "id": "01a20000-0000-7000-8000-000000000001",
     "name": "Globex",
     "slug": "globex",
     "provider": null,
     "default_country": "BR",
     "timezone": "America/Sao_Paulo",
     "currency": "BRL",
     "language": "pt_BR",
     "attribution_window_days": 7,
     "created_at": "2026-03-02T09:00:00.000Z",
     "updated_at": "2026-03-02T09:00:00.000Z"
    }
   }
  },
  {
   "name": "taken",
   "body": {
    "name": "Globex",
    "slug": "globex"
   },
   "status": 409,
   "answer": {
    "success": false,
    "error": "Already taken",
    "message": "The slug \"globex\" belongs to another organization: choose another one"
   }
  }
 ],
 "organizations.get": [
  {
   "name": "example",
   "path": {
    "id": "01a20000-0000-7000-8000-000000000001"
   },
   "status": 200,
   "answer": {
    "success": true,
    "organization": {
     "id": "01a20000-0000-7000-8000-000000000001",
     "name": "Globex",
     "slug": "globex",
     "provider": null,
     "default_country": "BR",
     "timezone": "America/Sao_Paulo",
     "currency": "BRL",
     "language": "pt_BR",
     "attribution_window_days": 7,
     "created_at": "2026-03-02T09:00:00.000Z",
     "updated_at": "2026-03-02T09:00:00.000Z"
    }
   }
  }
 ],
 "organizations.update": [
  {
   "name": "example",
   "path": {
    "id": "01a20000-0000-7000-8000-000000000001"
   },
   "body": {
    "timezone": "America/Sao_Paulo"
   },
   "status": 200,
   "answer": {
    "success": true,
    "organization": {
     "id": "01a20000-0000-7000-8000-000000000001",
     "name": "Globex",
     "slug": "globex",
     "provider": null,
     "default_country": "BR",
     "timezone": "America/Sao_Paulo",
     "currency": "BRL",
     "language": "pt_BR",
     "attribution_window_days": 7,
     "created_at": "2026-03-02T09:00:00.000Z",
     "updated_at": "2026-03-02T09:00:00.000Z"
    }
   }
  }
 ],
 "organizations.connectUpstream": [
  {
   "name": "example",
   "path": {
    "id": "01a20000-0000-7000-8000-000000000001"
   },
   "body": {
    "phone_number_id": "106540352242922",
    "business_account_id": "102290129340398",
    "access_token": "EAAG…",
    "app_secret": "a1b2c3d4",
    "verify_token": "my-verify-token"
   },
   "status": 200,
   "answer": {
    "success": true,
    "organization": {
     "id": "01a20000-0000-7000-8000-000000000001",
     "name": "Globex",
     "slug": "globex",
     "provider": "upstream",
     "default_country": "BR",
     "timezone": "America/Sao_Paulo",
     "currency": "BRL",
     "language": "pt_BR",
     "attribution_window_days": 7,
     "created_at": "2026-03-02T09:00:00.000Z",
     "updated_at": "2026-03-02T09:00:00.000Z"
    },
    "upstream": {
     "phone_number_id": "106540352242922",
     "business_account_id": "102290129340398",
     "messages_per_second": 80,
     "pair_limit": true
    }
   }
  }
 ],
 "organizations.connectStorefront": [
  {
   "name": "example",
   "path": {
    "id": "01a20000-0000-7000-8000-000000000001"
   },
   "body": {
    "url": "https://globex.example",
    "access_token": "shpat_example",
    "webhook_secret": "secret"
   },
   "status": 200,
   "answer": {
    "success": true,
    "storefront": {
     "url": "https://globex.example"
    }
   }
  }
 ],
 "organizations.getStorefront": [
  {
   "name": "example",
   "path": {
    "id": "01a20000-0000-7000-8000-000000000001"
   },
   "status": 200,
   "answer": {
    "success": true,
    "storefront": {
     "url": "https://globex.example"
    }
   }
  }
 ],
 "keys.create": [
  {
   "name": "example",
   "path": {
    "id": "01a20000-0000-7000-8000-000000000001"
   },
   "body": {
    "name": "Website",
    "scopes": [
     "contacts:read",
     "messages:send"
    ]
   },
   "status": 201,
   "answer": {
    "success": true,
    "api_key": {
     "id": "01a20000-0000-7000-8000-000000000002",
     "name": "Website",
     "prefix": "parley_EXAM",
     "scopes": [
      "contacts:read",
      "messages:send"
     ],
     "expires_at": null,
     "revoked_at": null,
     "last_used_at": null,
     "created_at": "2026-03-02T09:00:00.000Z",
     "key": "parley_EXAMPLE"
    }
   }
  }
 ],
 "keys.rotate": [
  {
   "name": "example",
   "path": {
    "id": "01a20000-0000-7000-8000-000000000002"
   },
   "body": {
    "overlap_seconds": 3600
   },
   "status": 201,
   "answer": {
    "success": true,
    "api_key": {
     "id": "01a20000-0000-7000-8000-000000000003",
     "name": "Website",
     "prefix": "parley_EXAM",
     "scopes": [
      "contacts:read",
      "messages:send"
     ],
     "expires_at": null,
     "revoked_at": null,
     "last_used_at": null,
     "created_at": "2026-03-02T09:00:00.000Z",
     "key": "parley_EXAMPLE"
    }
   }
  }
 ],
 "keys.list": [
  {
   "name": "example",
   "path": {
    "id": "01a20000-0000-7000-8000-000000000001"
   },
   "status": 200,
   "answer": {
    "success": true,
    "api_keys": [
     {
      "id": "01a20000-0000-7000-8000-000000000002",
      "name": "Website",
      "prefix": "parley_EXAM",
      "scopes": [
       "contacts:read",
       "messages:send"
      ],
      "expires_at": null,
      "revoked_at": "2026-03-02T09:00:00.000Z",
      "last_used_at": null,
      "created_at": "2026-03-02T09:00:00.000Z"
     },
     {
      "id": "01a20000-0000-7000-8000-000000000003",
      "name": "Website",
      "prefix": "parley_EXAM",
      "scopes": [
       "contacts:read",
       "messages:send"
      ],
      "expires_at": null,
      "revoked_at": null,
      "last_used_at": null,
      "created_at": "2026-03-02T09:00:00.000Z"
     }
    ]
   }
  }
 ],
 "keys.revoke": [
  {
   "name": "example",
   "path": {
    "id": "01a20000-0000-7000-8000-000000000003"
   },
   "status": 200,
   "answer": {
    "success": true,
    "message": "The API key has been revoked",
    "api_key": {
     "id": "01a20000-0000-7000-8000-000000000003",
     "name": "Website",
     "prefix": "parley_EXAM",
     "scopes": [
      "contacts:read",
      "messages:send"
     ],
     "expires_at": null,
     "revoked_at": "2026-03-02T09:00:00.000Z",
     "last_used_at": null,
     "created_at": "2026-03-02T09:00:00.000Z"
    }
   }
  }
 ],
 "members.create": [
  {
   "name": "example",
   "path": {
    "id": "01a20000-0000-7000-8000-000000000001"
   },
   "body": {
    "email": "carla@globex.example",
    "full_name": "Carla Dias",
    "role": "owner"
   },
   "status": 201,
   "answer": {
    "success": true,
    "member": {
     "id": "01a20000-0000-7000-8000-000000000004",
     "email": "carla@globex.example",
     "full_name": "Carla Dias",
     "role": "owner",
     "has_password": false,
     "created_at": "2026-03-02T09:00:00.000Z",
     "updated_at": "2026-03-02T09:00:00.000Z"
    }
   }
  }
 ],
 "members.list": [
  {
   "name": "example",
   "path": {
    "id": "01a20000-0000-7000-8000-000000000001"
   },
   "status": 200,
   "answer": {
    "success": true,
    "members": [
     {
      "id": "01a20000-0000-7000-8000-000000000004",
      "email": "carla@globex.example",
      "full_name": "Carla Dias",
      "role": "owner",
      "has_password": false,
      "created_at": "2026-03-02T09:00:00.000Z",
      "updated_at": "2026-03-02T09:00:00.000Z"
     }
    ]
   }
  }
 ],
 "members.createSignInLink": [
  {
   "name": "example",
   "path": {
    "id": "01a20000-0000-7000-8000-000000000004"
   },
   "status": 201,
   "answer": {
    "success": true,
    "link": {
     "url": "https://parley.example/console/sign-in#TOKEN",
     "expires_at": "2026-03-02T09:00:00.000Z"
    }
   }
  }
 ],
 "members.remove": [
  {
   "name": "example",
   "path": {
    "id": "01a20000-0000-7000-8000-000000000004"
   },
   "status": 200,
   "answer": {
    "success": true,
    "message": "The member has been removed"
   }
  }
 ],
 "organizations.delete": [
  {
   "name": "example",
   "path": {
    "id": "01a20000-0000-7000-8000-000000000001"
   },
   "status": 200,
   "answer": {
    "success": true,
    "message": "The organization has been deleted; its data is removed within minutes"
   }
  }
 ]
}

<?php
/**
 * By which host, scheme and address a visitor asks, as the Worker in front of this site says and proves it.
 *
 * Sluice Preload loads this file. When the plugin is deactivated, it leaves a copy in wp-content/mu-plugins, because visitors still
 * come through the Worker: without it WordPress would send each of them back to the address he asked for. Activating or deleting the
 * plugin removes the copy. Loaded twice, it does nothing the second time.
 *
 * @package Sluice_Preload
 */

defined( 'ABSPATH' ) || exit;

if ( ! class_exists( 'Sluice_Preload_Proxy', false ) ) {
	/**
	 * The Worker's address, the zone and the key. A constant beats its setting.
	 */
	final class Sluice_Preload_Settings {
		const OPTION    = 'sluice_preload_settings';
		const CONSTANTS = array(
			'worker_url'  => 'SLUICE_WORKER_URL',
			'zone_id'     => 'SLUICE_ZONE_ID',
			'signing_key' => 'SLUICE_SIGNING_KEY',
		);
		// As the Worker has it: a shorter key counts as none.
		const MIN_KEY_CHARS = 16;

		/**
		 * Returns one setting; an empty text when it is not set.
		 *
		 * @param string $name One of the keys of CONSTANTS.
		 * @return string
		 */
		public static function get( $name ) {
			if ( self::is_constant( $name ) ) {
				$value = (string) constant( self::CONSTANTS[ $name ] );
			} else {
				$stored = get_option( self::OPTION );
				$value  = is_array( $stored ) && isset( $stored[ $name ] ) ? (string) $stored[ $name ] : '';
			}
			return 'worker_url' === $name ? untrailingslashit( trim( $value ) ) : trim( $value );
		}

		/**
		 * Whether wp-config.php sets this value.
		 *
		 * @param string $name One of the keys of CONSTANTS.
		 * @return bool
		 */
		public static function is_constant( $name ) {
			$constant = self::CONSTANTS[ $name ];
			return defined( $constant ) && '' !== trim( (string) constant( $constant ) );
		}

		/**
		 * Whether all three values are there.
		 *
		 * @return bool
		 */
		public static function is_complete() {
			return '' !== self::get( 'worker_url' ) && '' !== self::get( 'zone_id' ) && '' !== self::get( 'signing_key' );
		}

		/**
		 * A text that changes with any of the values and tells none of them.
		 *
		 * @return string
		 */
		public static function fingerprint() {
			return wp_hash( implode( "\n", array_map( array( __CLASS__, 'get' ), array_keys( self::CONSTANTS ) ) ) );
		}
	}

	/**
	 * Believes X-Forwarded-* of the Worker, and of nobody else.
	 */
	final class Sluice_Preload_Proxy {
		const MAX_AGE_S = 300;

		/**
		 * Whether the Worker sent this request, and whether it named another host than the request itself.
		 *
		 * @var bool[]
		 */
		private static $found = array(
			'worker' => false,
			'host'   => false,
		);

		/**
		 * How this server was reached before anything was changed: address, port, and whether by TLS.
		 *
		 * @var array
		 */
		private static $reached = array();

		/**
		 * Takes over the visitor's host, scheme and address if X-Sluice-Proxy is right.
		 */
		public static function apply() {
			$name          = self::server( 'SERVER_ADDR' );
			$name          = '' === $name ? self::server( 'SERVER_NAME' ) : $name;
			self::$reached = array(
				'address' => filter_var( $name, FILTER_VALIDATE_IP ) ? $name : '',
				'port'    => (int) self::server( 'SERVER_PORT' ),
				'tls'     => ! in_array( strtolower( self::server( 'HTTPS' ) ), array( '', 'off', '0' ), true ),
			);

			$forwarded = explode( ',', self::server( 'HTTP_X_FORWARDED_FOR' ) );
			$client_ip = trim( end( $forwarded ) );
			$host      = self::server( 'HTTP_X_FORWARDED_HOST' );
			$proto     = self::server( 'HTTP_X_FORWARDED_PROTO' );
			$key       = Sluice_Preload_Settings::get( 'signing_key' );
			if ( '' === $key || ! self::is_right( self::server( 'HTTP_X_SLUICE_PROXY' ), $host, $proto, $client_ip, $key, time() ) ) {
				return;
			}
			self::$found['worker'] = true;
			if ( preg_match( '/^[A-Za-z0-9_.:\[\]-]+$/', $host ) ) {
				self::$found['host']  = strtolower( $host ) !== strtolower( self::server( 'HTTP_HOST' ) );
				$_SERVER['HTTP_HOST'] = $host;
			}
			if ( 'https' === $proto || 'http' === $proto ) {
				$_SERVER['HTTPS'] = 'https' === $proto ? 'on' : 'off';
			}
			if ( filter_var( $client_ip, FILTER_VALIDATE_IP ) ) {
				$_SERVER['REMOTE_ADDR'] = $client_ip;
			}
		}

		/**
		 * Whether a header proves that the Worker sent these values lately.
		 *
		 * @param string $header    X-Sluice-Proxy: t=UNIX,v=HEX.
		 * @param string $host      X-Forwarded-Host.
		 * @param string $proto     X-Forwarded-Proto.
		 * @param string $client_ip The last address of X-Forwarded-For; empty when the Worker has no visitor.
		 * @param string $key       The zone's key.
		 * @param int    $now       Unix time.
		 * @return bool
		 */
		public static function is_right( $header, $host, $proto, $client_ip, $key, $now ) {
			if ( ! preg_match( '/^t=([0-9]{1,11}),v=([0-9a-f]{64})$/', $header, $parts ) ) {
				return false;
			}
			$expected = hash_hmac( 'sha256', implode( "\n", array( 'proxy', $host, $proto, $client_ip, $parts[1] ) ), $key );
			return hash_equals( $expected, $parts[2] ) && abs( $now - (int) $parts[1] ) <= self::MAX_AGE_S;
		}

		/**
		 * Whether the Worker sent this request.
		 *
		 * @return bool
		 */
		public static function is_from_worker() {
			return self::$found['worker'];
		}

		/**
		 * Whether WordPress knows only from the Worker by which host its visitors ask.
		 *
		 * @return bool
		 */
		public static function is_host_forwarded() {
			return self::$found['host'];
		}

		/**
		 * Where this server reaches itself, without the Worker in between; empty when unknown.
		 *
		 * @return array
		 */
		public static function get_own_address() {
			return '' !== self::$reached['address'] && self::$reached['port'] > 0 ? self::$reached : array();
		}

		/**
		 * One variable of the request, as it was sent: signatures and addresses are compared byte by byte.
		 *
		 * @param string $name The variable's name.
		 * @return string
		 */
		private static function server( $name ) {
			// phpcs:ignore WordPress.Security.ValidatedSanitizedInput.InputNotSanitized -- validated by its users.
			return isset( $_SERVER[ $name ] ) && is_string( $_SERVER[ $name ] ) ? wp_unslash( $_SERVER[ $name ] ) : '';
		}
	}

	Sluice_Preload_Proxy::apply();
}

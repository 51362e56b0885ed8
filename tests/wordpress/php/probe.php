<?php
// A must-use plugin of the tests: tells what WordPress believes about a request, and stands in for WP-CLI.
if ( isset( $_GET['probe'] ) ) {
	add_action(
		'init',
		function () {
			echo wp_json_encode(
				array(
					'host'    => $_SERVER['HTTP_HOST'],
					'tls'     => is_ssl(),
					'address' => $_SERVER['REMOTE_ADDR'],
				)
			);
			exit;
		},
		1
	);
}
if ( isset( $_GET['probe-cookie'] ) ) {
	add_action(
		'init',
		function () {
			setcookie( 'tracker', '1' );
		}
	);
}
if ( 'cli' === PHP_SAPI && getenv( 'PROBE_WP_CLI' ) ) {
	define( 'WP_CLI', true );
	class WP_CLI {
		public static $commands = array();
		public static function add_command( $name, $command ) {
			self::$commands[ $name ] = $command;
		}
		public static function log( $text ) {
			echo "$text\n";
		}
		public static function success( $text ) {
			echo "Success: $text\n";
		}
		public static function error( $text ) {
			echo "Error: $text\n";
			exit( 0 );
		}
	}
}
